// Which tools the demo model calls for a message: words of the message against names and descriptions.
//
// Invariants:
//   D4. A word in many tools' descriptions weighs little; a word of a tool's name weighs most.
//   D5. Only offered tools are called, each at most `callsMax` times, in the order the message mentions them.
import type { ToolDefinition } from '@dormouse/ports';
import { isBuiltInToolName } from '@dormouse/protocol';
import { fillArguments } from './demo-arguments.ts';
import { factsFoundBy, findFacts, type MessageFacts } from './demo-facts.ts';
import { contentWords, nameWords } from './demo-words.ts';

export interface DemoCall {
  readonly operation: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

const callsMax = 8;
const nameWeight = 3;
const descriptionWeight = 2;
const scoreMin = 1;

interface ToolWords {
  readonly tool: ToolDefinition;
  /** Every word of the name, in the form in which a message contains it. */
  readonly spoken: readonly string[];
  /** True when one of its arguments is a place, or a list of places. */
  readonly takesPlace: boolean;
}

/** The score that a tool gains by a word. */
interface Gain {
  readonly place: number;
  readonly points: number;
}

interface Offer {
  readonly tools: readonly ToolWords[];
  readonly gains: ReadonlyMap<string, readonly Gain[]>;
}

export function chooseCalls(message: string, tools: readonly ToolDefinition[]): readonly DemoCall[] {
  const offer = offerOf(tools);
  const calls: DemoCall[] = [];
  const ofMessage = findFacts(message);
  for (const clause of clauses(message)) {
    const chosen = best(clause, offer);
    if (chosen === null) continue;
    // The clause's own facts come first: "roll 3 dice and tell me the weather in Oslo" has two of them.
    const ofClause = clause === message ? ofMessage : findFacts(clause);
    for (const facts of variants(ofClause, ofMessage, chosen)) {
      const { name, inputSchema } = chosen.tool;
      const call = { operation: name, arguments: fillArguments(inputSchema, facts) };
      if (!calls.some((other) => sameCall(other, call))) calls.push(call);
    }
  }
  return calls.slice(0, callsMax); // (D5)
}

/** Parts of a message that may each ask for another tool. A list of places stays together. */
function clauses(message: string): readonly string[] {
  return message
    .split(/[.?!;\n]+(?=\s|$)|,?\s+(?:and then|then|and also|also|and)\s+(?=[a-z])/)
    .map((clause) => clause.trim())
    .filter((clause) => clause !== '');
}

function best(clause: string, { tools, gains }: Offer): ToolWords | null {
  const words = new Set(contentWords(clause));
  const points = tools.map(() => 0);
  for (const word of words) {
    for (const gain of gains.get(word) ?? []) points[gain.place] = (points[gain.place] ?? 0) + gain.points;
  }
  let winner: ToolWords | null = null;
  let highest = 0;
  for (const [place, candidate] of tools.entries()) {
    const own = points[place] ?? 0;
    if (own > highest && mayBeCalled(candidate, words)) [winner, highest] = [candidate, own];
  }
  return highest >= scoreMin ? winner : null;
}

/** The runtime's own tools are called only by their name, never because a description happens to match. */
const mayBeCalled = ({ tool, spoken }: ToolWords, words: ReadonlySet<string>): boolean =>
  !isBuiltInToolName(tool.name) || spoken.every((word) => words.has(word));

/** One call per place where a tool takes one place and the message names several. */
function variants(clause: MessageFacts, message: MessageFacts, chosen: ToolWords): readonly MessageFacts[] {
  const facts = factsFoundBy(clause.text, {
    quoted: () => orElse(clause.quoted, message.quoted),
    places: () => orElse(clause.places, message.places),
    numbers: () => orElse(clause.numbers, message.numbers),
    durationsMs: () => orElse(clause.durationsMs, message.durationsMs),
  });
  if (!chosen.takesPlace || facts.places.length < 2) return [facts];
  return facts.places.map((place) => withPlaces(facts, [place]));
}

const orElse = <Item>(ours: readonly Item[], others: readonly Item[]): readonly Item[] =>
  ours.length > 0 ? ours : others;

const withPlaces = (facts: MessageFacts, places: readonly string[]): MessageFacts =>
  factsFoundBy(facts.text, {
    quoted: () => facts.quoted,
    places: () => places,
    numbers: () => facts.numbers,
    durationsMs: () => facts.durationsMs,
  });

const sameCall = (one: DemoCall, other: DemoCall): boolean =>
  one.operation === other.operation && JSON.stringify(one.arguments) === JSON.stringify(other.arguments);

const someplace = 'Someplace';
const aPlace: MessageFacts = { text: '', quoted: [], places: [someplace], numbers: [], durationsMs: [] };

/** Cached, because the same list is offered again and again. */
const known = new WeakMap<readonly ToolDefinition[], Offer>();

function offerOf(tools: readonly ToolDefinition[]): Offer {
  const offer = known.get(tools) ?? { tools: tools.map(toolWords), gains: gainsOf(tools) };
  known.set(tools, offer);
  return offer;
}

function toolWords(tool: ToolDefinition): ToolWords {
  return {
    tool,
    spoken: contentWords(tool.name.replaceAll('_', ' ')),
    takesPlace: JSON.stringify(fillArguments(tool.inputSchema, aPlace)).includes(JSON.stringify(someplace)),
  };
}

/** (D4) */
function gainsOf(tools: readonly ToolDefinition[]): Offer['gains'] {
  const words = tools.map((tool) => ({
    name: new Set(nameWords(tool.name)),
    description: new Set(isBuiltInToolName(tool.name) ? [] : contentWords(tool.description)),
  }));
  const describing = new Map<string, number>();
  for (const { description } of words)
    for (const word of description) describing.set(word, (describing.get(word) ?? 0) + 1);
  const gains = new Map<string, Gain[]>();
  for (const [place, { name, description }] of words.entries()) {
    for (const word of new Set([...name, ...description])) {
      const points = name.has(word) ? nameWeight : descriptionWeight / (describing.get(word) ?? 1);
      const those = gains.get(word);
      if (those === undefined) gains.set(word, [{ place, points }]);
      else those.push({ place, points });
    }
  }
  return gains;
}
