// A turn as a picture of lines: its steps as a tree, each with when it began, how long it took, and a bar. Pure.
//
// Invariants:
//   W1. No line is longer than `columns`, at most 80.
//   W2. A step stands below the one that caused it, or at the left when that is of another turn.
//   W3. A bar is solid while the runtime worked and shaded while it waited; a moment is one mark, and a step that is
//       still open ends in an arrow. Every step has a mark, however short it is beside the turn.
//   W4. Without Unicode every character of the picture is ASCII.
import type { Schemas } from '@dormouse/client';
import { cleanLine } from '../clean-text.ts';
import { showDuration } from '../duration.ts';

type Turn = Schemas['Turn'];
type Step = Schemas['Step'];

export interface WaterfallOptions {
  readonly columns: number;
  readonly unicode: boolean;
}

const columnsMax = 80;
const columnsMin = 56;
const labelColumns = 31;
const timeColumns = 8;
/** Deeper steps stand as far right as this. */
const depthMax = 7;

interface Marks {
  readonly works: string;
  readonly waits: string;
  readonly moment: string;
  readonly open: string;
  readonly cut: string;
}

const unicodeMarks: Marks = { works: '█', waits: '░', moment: '▏', open: '›', cut: '…' };
const asciiMarks: Marks = { works: '#', waits: '.', moment: '|', open: '>', cut: '~' };

/** The whole picture of a turn. */
export function waterfall(turn: Turn, options: WaterfallOptions): readonly string[] {
  return [...turnLines(turn, options), ...stepLines(turn, options).flatMap(({ lines }) => lines)];
}

/** What began the turn, when, how long it took, and its trace. */
export function turnLines(turn: Turn, options: WaterfallOptions): readonly string[] {
  const { cause, started_at: startedAt, ended_at: endedAt, trace_id: traceId } = turn;
  const took = endedAt === null ? 'running' : showDuration(Date.parse(endedAt) - Date.parse(startedAt));
  const end = `  ${startedAt}  ${took}`;
  const head = `${cause.kind} ${turn.turn_id}`;
  return [
    `${fit(head, columnsOf(options) - end.length, options)}${end}`,
    ...(traceId === null ? [] : [`  trace ${traceId}`]),
  ].map((line) => fit(line, columnsOf(options), options));
}

/** The lines of each step, in the order of the tree. */
export function stepLines(
  turn: Turn,
  options: WaterfallOptions,
): readonly { readonly step: Step | null; readonly lines: readonly string[] }[] {
  const scale = scaleOf(turn);
  const lines = inTree(turn.steps).map(({ step, depth }) => {
    const indent = '  '.repeat(Math.min(depth, depthMax));
    const links = (step.links ?? []).map((link) => `${indent}  link ${link.trace_id} ${link.span_id}`);
    const trace =
      step.trace_id === undefined || step.trace_id === turn.trace_id ? [] : [`${indent}  trace ${step.trace_id}`];
    const all = [stepLine(step, indent, scale, options), ...trace, ...links];
    return { step, lines: all.map((line) => fit(line, columnsOf(options), options)) }; // (W1)
  });
  const { steps_omitted: omitted = 0 } = turn;
  return omitted === 0 ? lines : [...lines, { step: null, lines: [`and ${omitted} more steps`] }];
}

interface Scale {
  readonly from: number;
  readonly to: number;
}

function scaleOf({ started_at: startedAt, ended_at: endedAt, steps }: Turn): Scale {
  const times = [startedAt, endedAt, ...steps.flatMap((step) => [step.started_at, step.ended_at])];
  const known = times.flatMap((time) => (time === null ? [] : [Date.parse(time)]));
  const from = Date.parse(startedAt);
  return { from, to: known.reduce((last, time) => Math.max(last, time), from) };
}

/** (W2) */
function inTree(steps: readonly Step[]): readonly { readonly step: Step; readonly depth: number }[] {
  const known = new Set(steps.map(({ id }) => id));
  const below = new Map<string | null, Step[]>();
  for (const step of steps) {
    const { id, parent_id: parent } = step;
    const above = parent !== null && parent !== id && known.has(parent) ? parent : null;
    const siblings = below.get(above);
    if (siblings === undefined) below.set(above, [step]);
    else siblings.push(step);
  }
  const placed: { readonly step: Step; readonly depth: number }[] = [];
  const waiting = (below.get(null) ?? []).toReversed().map((step) => ({ step, depth: 0 }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    placed.push(next);
    const { step, depth } = next;
    for (const child of (below.get(step.id) ?? []).toReversed()) waiting.push({ step: child, depth: depth + 1 });
    below.delete(step.id);
  }
  return placed;
}

function stepLine(step: Step, indent: string, scale: Scale, options: WaterfallOptions): string {
  const { started_at: startedAt, ended_at: endedAt } = step;
  const start = Date.parse(startedAt) - scale.from;
  const label = fit(indent + labelOf(step), labelColumns, options).padEnd(labelColumns);
  const began = `${start < 0 ? '-' : '+'}${showDuration(Math.abs(start))}`.padStart(timeColumns);
  const took = (endedAt === null ? 'open' : showDuration(Date.parse(endedAt) - Date.parse(startedAt))).padStart(
    timeColumns,
  );
  return `${label} ${began} ${took} ${bar(step, scale, options)}`.trimEnd();
}

const usual: ReadonlySet<string> = new Set(['result', 'stop', 'tool_calls', 'accepted', 'fired', 'thread', 'reported']);

function labelOf({ kind, id, name, outcome }: Step): string {
  const number = kind === 'attempt' ? id.slice(id.lastIndexOf('.') + 1) : null;
  const shown = kind === 'child' ? id : (name ?? number ?? '');
  return [kind, shown, outcome === undefined || usual.has(outcome) ? '' : outcome]
    .filter((word) => word !== '')
    .join(' ');
}

/** (W3) */
function bar(step: Step, { from, to }: Scale, options: WaterfallOptions): string {
  const { works, waits, moment, open } = marksOf(options);
  const width = columnsOf(options) - labelColumns - 2 * timeColumns - 3;
  const column = (time: number): number =>
    to === from ? 0 : Math.min(width - 1, Math.max(0, Math.floor(((time - from) / (to - from)) * width)));
  const [start, end] = [Date.parse(step.started_at), step.ended_at === null ? to : Date.parse(step.ended_at)];
  const first = column(start);
  if (step.ended_at !== null && end === start) return ' '.repeat(first) + moment;
  const last = step.ended_at === null ? width - 1 : Math.max(first, column(end));
  const length = last - first + 1;
  const shade = isWaiting(step) ? waits : works;
  const drawn = step.ended_at === null ? shade.repeat(length - 1) + open : shade.repeat(length);
  return ' '.repeat(first) + drawn;
}

/** A call that is open waits too; its attempts, below it, are the work. */
const isWaiting = ({ kind }: Step): boolean => !['completion', 'attempt'].includes(kind);

function fit(text: string, columns: number, options: WaterfallOptions): string {
  const { cut } = marksOf(options);
  const line = cleanOneLine(text, options);
  return line.length <= columns ? line : `${line.slice(0, columns - 1)}${cut}`;
}

/** Spaces of the picture stay; what came from a stranger is clean. (W4) */
function cleanOneLine(text: string, { unicode }: WaterfallOptions): string {
  const indent = /^ */.exec(text)?.[0] ?? '';
  const clean = text
    .slice(indent.length)
    .split(' ')
    .map((word) => cleanLine(word))
    .join(' ');
  return indent + (unicode ? clean : clean.replaceAll(/[^\x20-\x7e]/g, '?'));
}

const marksOf = ({ unicode }: WaterfallOptions): Marks => (unicode ? unicodeMarks : asciiMarks);

const columnsOf = ({ columns }: WaterfallOptions): number => Math.max(columnsMin, Math.min(columnsMax, columns));
