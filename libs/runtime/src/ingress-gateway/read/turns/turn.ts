// A turn as the lineage shows it: what began it, and its steps, each with the step that caused it.
//
// Invariants:
//   T1. Times are milliseconds since the epoch, of the thread's clock; those of a step are the times of its events.
//   T2. The id of a completion, call, choice, timer or child is the log's. An event, a report and a callback have the
//       id of the input that brought them, an attempt has that of its call with its number.
//   T3. `parentId` names the step that caused a step, which may be of an earlier turn; null for what came from outside.

export type StepKind =
  'completion' | 'call' | 'attempt' | 'callback' | 'child' | 'report' | 'timer' | 'event' | 'choice';

/** A span of the trace of a turn. */
export interface SpanLink {
  readonly traceId: string;
  readonly spanId: string;
}

export interface Step {
  readonly kind: StepKind;
  readonly id: string;
  /** (T3) */
  readonly parentId: string | null;
  /** What people know it by: a model, an operation, the reason of a timer. */
  readonly name?: string;
  readonly startedAt: number;
  /** Null while it is open. */
  readonly endedAt: number | null;
  /** Milliseconds of waiting for a person, a tool, a time or a child; only of a step that has ended. */
  readonly waitedMs?: number;
  readonly outcome?: string;
  /** Absent when tracing was off. */
  readonly traceId?: string;
  readonly spanId?: string;
  /** Spans that caused it and are not above its own. */
  readonly links?: readonly SpanLink[];
  /** Of a call: callbacks that had been accepted before, and those that were refused. */
  readonly duplicates?: number;
  readonly refused?: number;
}

export interface Turn {
  readonly turnId: string;
  readonly cause: { readonly kind: string; readonly id: string };
  readonly traceId: string | null;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly steps: readonly Step[];
  /** Steps beyond the first `stepsPerTurnMax`, which are not shown. */
  readonly stepsOmitted?: number;
}
