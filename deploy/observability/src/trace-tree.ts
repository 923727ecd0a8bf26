// A trace as Jaeger's query API gives it, as lines: a tree of spans, each with its service, when it began and how long
// it took. Pure.
//
// Invariants:
//   T1. No line is longer than 80 columns.
//   T2. A span stands below its parent, or at the left when the trace does not have it; siblings are in the order of
//       time.

/** What is read of it here. Times are in microseconds, `startTime` since the epoch. */
export interface JaegerTrace {
  readonly traceID: string;
  readonly spans: readonly JaegerSpan[];
  readonly processes: Readonly<Record<string, { readonly serviceName: string }>>;
}

interface JaegerSpan {
  readonly spanID: string;
  readonly operationName: string;
  readonly processID: string;
  readonly startTime: number;
  readonly duration: number;
  readonly references: readonly { readonly refType: string; readonly traceID: string; readonly spanID: string }[];
  readonly tags: readonly { readonly key: string; readonly value: unknown }[];
}

const nameColumns = 43;
const serviceColumns = 17;
const timeColumns = 8;

export function traceTree({ traceID, spans, processes }: JaegerTrace): readonly string[] {
  const known = new Set(spans.map(({ spanID }) => spanID));
  const inOrder = spans.toSorted((a, b) => a.startTime - b.startTime);
  const below = Map.groupBy(inOrder, (span) => {
    const parent = parentOf(span, traceID);
    return parent !== null && known.has(parent) ? parent : null; // (T2)
  });
  const began = Math.min(...spans.map(({ startTime }) => startTime));
  const ended = Math.max(...spans.map(({ startTime, duration }) => startTime + duration));
  const lines = [`trace ${traceID}  ${new Date(began / 1_000).toISOString()}  ${milliseconds(ended - began)}`];
  const add = (span: JaegerSpan, depth: number): void => {
    const service = (processes[span.processID]?.serviceName ?? '').replace(/^dormouse-/, '');
    lines.push(
      [
        fit('  '.repeat(depth) + span.operationName + failureOf(span), nameColumns),
        fit(service, serviceColumns),
        `+${milliseconds(span.startTime - began)}`.padStart(timeColumns),
        milliseconds(span.duration).padStart(timeColumns),
      ].join(' '),
    );
    for (const child of below.get(span.spanID) ?? []) add(child, depth + 1);
  };
  for (const root of below.get(null) ?? []) add(root, 0);
  return lines;
}

const parentOf = ({ references }: JaegerSpan, trace: string): string | null =>
  references.find(({ refType, traceID }) => refType === 'CHILD_OF' && traceID === trace)?.spanID ?? null;

function failureOf({ tags }: JaegerSpan): string {
  const type = tags.find(({ key }) => key === 'error.type');
  return type === undefined ? '' : ` ${String(type.value)}`;
}

const milliseconds = (microseconds: number): string => `${Math.round(microseconds / 1_000)} ms`;

/** (T1) */
const fit = (text: string, columns: number): string =>
  (text.length > columns ? `${text.slice(0, columns - 1)}…` : text).padEnd(columns);
