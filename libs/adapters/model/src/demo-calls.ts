// Which tools the demo model calls for a message: words of the message against names and descriptions.
//
// Invariants:
//   D4. A word that is in many tools' descriptions says little; a word of a tool's name says most.
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
  /** Every word of the name, as a message would say it. */
  readonly spoken: readonly string[];
  readonly name: ReadonlySet<string>;
  readonly description: ReadonlySet<string>;
  /** One of its arguments is a place, or a list of them. */
  readonly takesPlace: boolean;
}

export function chooseCalls(message: string, tools: readonly ToolDefinition[]): readonly DemoCall[] {
  const index = indexOf(tools);
  const calls: DemoCall[] = [];
  const ofMessage = findFacts(message);
  for (const clause of clauses(message)) {
    const chosen = best(clause, index);
    if (chosen === null) continue;
    // Facts are looked for in the clause first: "roll 3 dice and tell me the weather in Oslo" has two of them.
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

function best(clause: string, index: readonly ToolWords[]): ToolWords | null {
  const words = new Set(contentWords(clause));
  let winner: ToolWords | null = null;
  let highest = 0;
  for (const candidate of index) {
    const points = score(words, candidate, index);
    if (points > highest) [winner, highest] = [candidate, points];
  }
  return highest >= scoreMin ? winner : null;
}

function score(words: ReadonlySet<string>, candidate: ToolWords, index: readonly ToolWords[]): number {
  // The runtime's own tools are called when they are named, never because a description happens to fit.
  const isNamed = candidate.spoken.every((word) => words.has(word));
  if (isBuiltInToolName(candidate.tool.name) && !isNamed) return 0;
  let points = 0;
  for (const word of words) {
    if (candidate.name.has(word)) points += nameWeight;
    else if (candidate.description.has(word))
      points += descriptionWeight / index.filter((other) => other.description.has(word)).length; // (D4)
  }
  return points;
}

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

/** The same list is offered again and again. */
const known = new WeakMap<readonly ToolDefinition[], readonly ToolWords[]>();

function indexOf(tools: readonly ToolDefinition[]): readonly ToolWords[] {
  const index = known.get(tools) ?? tools.map(toolWords);
  known.set(tools, index);
  return index;
}

function toolWords(tool: ToolDefinition): ToolWords {
  const described = isBuiltInToolName(tool.name) ? '' : tool.description;
  return {
    tool,
    spoken: contentWords(tool.name.replaceAll('_', ' ')),
    name: new Set(nameWords(tool.name)),
    description: new Set(contentWords(described)),
    takesPlace: JSON.stringify(fillArguments(tool.inputSchema, aPlace)).includes(JSON.stringify(someplace)),
  };
}
