// JSON as text in a tree. Unlike a value it can have a member twice, a number of any length, and characters that no
// value has; so what a careless or hostile sender writes can be written.

export type JsonTree = JsonObjectTree | JsonListTree | JsonLeaf;

export interface JsonObjectTree {
  readonly kind: 'object';
  readonly members: readonly Member[];
}

export interface JsonListTree {
  readonly kind: 'list';
  readonly items: readonly JsonTree[];
}

export interface JsonLeaf {
  readonly kind: 'leaf';
  /** As it is written, whether it is JSON or not. */
  readonly json: string;
}

export interface Member {
  /** As it is written, quotation marks included. */
  readonly name: string;
  readonly value: JsonTree;
}

/** Where a node is: the index of a member or item at each level. */
export type TreePath = readonly number[];

export const leaf = (json: string): JsonLeaf => ({ kind: 'leaf', json });

export function treeOf(value: unknown): JsonTree {
  if (Array.isArray(value)) return { kind: 'list', items: value.map(treeOf) };
  if (typeof value !== 'object' || value === null) return leaf(JSON.stringify(value) ?? 'null');
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return {
    kind: 'object',
    members: members.map(([name, member]) => ({ name: JSON.stringify(name), value: treeOf(member) })),
  };
}

export function textOf(tree: JsonTree): string {
  if (tree.kind === 'leaf') return tree.json;
  if (tree.kind === 'list') return `[${tree.items.map(textOf).join(',')}]`;
  return `{${tree.members.map(({ name, value }) => `${name}:${textOf(value)}`).join(',')}}`;
}

/** The places of all nodes of a kind; the root is the empty path. */
export function placesOf(
  tree: JsonTree,
  isWanted: (node: JsonTree) => boolean,
  at: TreePath = [],
): readonly TreePath[] {
  const below = childrenOf(tree).flatMap((child, index) => placesOf(child, isWanted, [...at, index]));
  return isWanted(tree) ? [at, ...below] : below;
}

const childrenOf = (tree: JsonTree): readonly JsonTree[] => {
  if (tree.kind === 'leaf') return [];
  return tree.kind === 'list' ? tree.items : tree.members.map(({ value }) => value);
};

export function replaceAt(tree: JsonTree, path: TreePath, change: (node: JsonTree) => JsonTree): JsonTree {
  const [first, ...rest] = path;
  if (first === undefined) return change(tree);
  if (tree.kind === 'leaf') return tree;
  if (tree.kind === 'list')
    return {
      ...tree,
      items: tree.items.map((item, index) => (index === first ? replaceAt(item, rest, change) : item)),
    };
  const members = tree.members.map((member, index) =>
    index === first ? { ...member, value: replaceAt(member.value, rest, change) } : member,
  );
  return { ...tree, members };
}
