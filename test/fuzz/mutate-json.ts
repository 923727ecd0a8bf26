// Mutations of a body that keep its structure in sight: of its tree, of its text, and of its bytes. Each is a function
// of what it changes and of the numbers that a seed gives, and nothing else.
import { between, pick } from '../chaos/random.ts';
import { type JsonObjectTree, type JsonTree, leaf, type Member, placesOf, replaceAt, textOf } from './json-tree.ts';

type Random = () => number;

export const treeMutations = {
  memberDropped: (tree, random) => inObject(tree, random, (members) => without(members, indexIn(members, random))),
  memberUnknown: (tree, random) =>
    inObject(tree, random, (members) => [...members, { name: '"not_known"', value: leaf(pick(leaves, random)) }]),
  memberTwice: (tree, random) =>
    inObject(tree, random, (members) => {
      const twice = members[indexIn(members, random)];
      return twice === undefined ? members : [...members, { name: twice.name, value: leaf(pick(leaves, random)) }];
    }),
  memberTwiceEscaped: (tree, random) =>
    inObject(tree, random, (members) => {
      const twice = members[indexIn(members, random)];
      return twice === undefined ? members : [...members, { ...twice, name: escapedName(twice.name) }];
    }),
  memberOfPrototype: (tree, random) =>
    inObject(tree, random, (members) => [
      ...members,
      { name: pick(prototypeNames, random), value: leaf(pick(['{"admin":true}', '1', 'null'], random)) },
    ]),
  memberRenamed: (tree, random) =>
    inObject(tree, random, (members) =>
      replaced(members, indexIn(members, random), ({ name, value }) => ({ name: otherSpelling(name, random), value })),
    ),
  otherType: (tree, random) => anywhere(tree, random, () => leaf(pick(leaves, random))),
  number: (tree, random) => atLeaf(tree, random, () => leaf(pick(numbers, random))),
  characters: (tree, random) => atLeaf(tree, random, () => leaf(pick(strangeTexts, random))),
  longText: (tree, random) =>
    atLeaf(tree, random, () => leaf(`"${pick(['x', 'é', '\\u0041', '☃'], random).repeat(sizeOf(random, 17))}"`)),
  deep: (tree, random) =>
    anywhere(tree, random, (node) => {
      const [open, close] = pick(
        [
          ['[', ']'],
          ['{"a":', '}'],
        ] as const,
        random,
      );
      const levels = sizeOf(random, 9);
      return leaf(`${open.repeat(levels)}${textOf(node)}${close.repeat(levels)}`);
    }),
  wide: (tree, random) =>
    anywhere(tree, random, (node) => ({ kind: 'list', items: Array.from({ length: sizeOf(random, 10) }, () => node) })),
  manyMembers: (tree, random) =>
    inObject(tree, random, (members) => [
      ...members,
      ...Array.from({ length: sizeOf(random, 10) }, (_, index) => ({ name: `"k${index}"`, value: leaf('1') })),
    ]),
  otherId: (tree, random) => atLeaf(tree, random, () => leaf(`"{{${pick(strangeIds, random)}}}"`)),
} as const satisfies Record<string, (tree: JsonTree, random: Random) => JsonTree>;

export const textMutations = {
  cut: (text, random) => text.slice(0, Math.floor(random() * text.length)),
  garbageBehind: (text, random) => text + pick(['x', '}', ',', '\u0000', ' {}', '//', '\n\n{"a":1}'], random),
  notQuiteJson: (text, random) =>
    pick<(json: string) => string>(
      [
        (json) => json.replaceAll('"', "'"),
        (json) => json.replace(/\}$/, ',}'),
        (json) => json.replace(/^\{/, '{/**/'),
        (json) => json.replace(':', ':NaN,"b":'),
        (json) => json.replace(':', ':+1,"b":'),
        (json) => json.replace(':', ':01,"b":'),
        (json) => `\ufeff${json}`,
        (json) => `callback(${json})`,
      ],
      random,
    )(text),
  none: () => '',
  onlyALeaf: (_text, random) => pick([...leaves, ...numbers, ...strangeTexts], random),
  whiteSpace: (text, random) => pick([' ', '\t', '\r\n', '\u00a0', '\u2028'], random).repeat(sizeOf(random, 12)) + text,
} as const satisfies Record<string, (text: string, random: Random) => string>;

export const byteMutations = {
  bitFlipped: (bytes, random) => {
    if (bytes.length === 0) return bytes;
    const flipped = Buffer.from(bytes);
    const at = Math.floor(random() * bytes.length);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << Math.floor(random() * 8));
    return flipped;
  },
  notUtf8: (bytes, random) => {
    const at = Math.floor(random() * (bytes.length + 1));
    return Buffer.concat([bytes.subarray(0, at), Buffer.from(pick(brokenUtf8, random)), bytes.subarray(at)]);
  },
  otherEncoding: (bytes, random) => Buffer.from(bytes.toString('utf8'), pick(['utf16le', 'latin1', 'base64'], random)),
  random: (_bytes, random) => Buffer.from(Array.from({ length: sizeOf(random, 10) }, () => Math.floor(random() * 256))),
} as const satisfies Record<string, (bytes: Buffer, random: Random) => Buffer>;

/** Other values than the one that is there: one of each type. */
const leaves = ['null', 'true', '0', '-1', '1.5', '""', '"x"', '[]', '{}', '[null]', '{"type":"text"}'] as const;

const numbers = [
  ...['1e999', '-1e999', '1e-999', '-0', '0.1e1', '9007199254740993', '-9223372036854775809', '18446744073709551616'],
  ...['2147483648', '4294967296', '253402300800000', `1${'0'.repeat(400)}`, `0.${'3'.repeat(2_000)}`],
] as const;

/** As JSON: escapes are the receiver's to read. */
const strangeTexts = [
  ...[String.raw`"\ud800"`, String.raw`"\udfff\ud800"`, String.raw`"\u0000"`, String.raw`"a\u0000b"`, '"\u0000"'],
  ...[String.raw`"\r\n{\"level\":\"error\"}\r\n"`, String.raw`"\u001b[2J\u001b]0;x\u0007"`, String.raw`"\u2028\u2029"`],
  ...[
    String.raw`"\ufeff\u202e\u200b"`,
    '"💣💣💣"',
    '"../../../etc/passwd"',
    '"{{/a/b}}"',
    '"${jndi:ldap://127.0.0.1/}"',
  ],
  ...[`"' OR 1=1 --"`, '"$where"', '{"$gt":""}', '{"$ref":"#"}', '"http://169.254.169.254/"', '"http://127.0.0.1:1/"'],
  ...['"javascript:alert(1)"', '"<script>alert(1)</script>"', '"%00"', '"__proto__"', '"constructor"', '"toString"'],
  ...['"1970-01-01T00:00:00.000Z"', '"+275760-09-13T00:00:00.001Z"', '"* * * * *"', '"0 0 31 2 *"', '"Mars/Olympus"'],
] as const;

const prototypeNames = [
  '"__proto__"',
  '"\\u005f_proto__"',
  '"constructor"',
  '"prototype"',
  '"toString"',
  '""',
] as const;

/** What a body may name that is not the sender's. */
const strangeIds = [
  'thread.same',
  'thread.other',
  'call.same',
  'call.other',
  'thread.unknown',
  'thread.closed',
] as const;

const brokenUtf8 = [
  [0xc3, 0x28],
  [0xff],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0xc0, 0xaf],
  [0x80],
  [0],
] as const;

/** From 1 to 2^`doublings`, small ones as often as large ones. */
const sizeOf = (random: Random, doublings: number): number => Math.floor(2 ** between(random, 0, doublings));

const indexIn = (list: readonly unknown[], random: Random): number => Math.floor(random() * list.length);

const without = (members: readonly Member[], index: number): readonly Member[] =>
  members.filter((_, at) => at !== index);

const replaced = (members: readonly Member[], index: number, change: (member: Member) => Member): readonly Member[] =>
  members.map((member, at) => (at === index ? change(member) : member));

const escapedName = (name: string): string =>
  name.replace(/^"(.)/, (_, first: string) => `"\\u${first.charCodeAt(0).toString(16).padStart(4, '0')}`);

const otherSpelling = (name: string, random: Random): string =>
  pick<(text: string) => string>(
    [(text) => text.toUpperCase(), (text) => text.replace(/"$/, ' "'), (text) => text.replaceAll('_', '-'), () => '""'],
    random,
  )(name);

function inObject(tree: JsonTree, random: Random, change: (members: readonly Member[]) => readonly Member[]): JsonTree {
  const isObject = (node: JsonTree): node is JsonObjectTree => node.kind === 'object';
  const places = placesOf(tree, isObject);
  if (places.length === 0) return tree;
  return replaceAt(tree, pick(places, random), (node) =>
    isObject(node) ? { ...node, members: change(node.members) } : node,
  );
}

const anywhere = (tree: JsonTree, random: Random, change: (node: JsonTree) => JsonTree): JsonTree =>
  replaceAt(
    tree,
    pick(
      placesOf(tree, () => true),
      random,
    ),
    change,
  );

function atLeaf(tree: JsonTree, random: Random, change: () => JsonTree): JsonTree {
  const places = placesOf(tree, ({ kind }) => kind === 'leaf');
  return places.length === 0 ? change() : replaceAt(tree, pick(places, random), change);
}
