// How long a thread's calls took, measured on the events that a load of the thread folds anyway.
//
// Invariants:
//   C1. A time runs from the commit that requests a call to the one that settles it with a result. A call that asked a
//       person is not measured, and neither is one whose request is not among the events seen.
//   C2. The newest times of an operation count, and they are bounded. Events in a snapshot are not seen: right after
//       one no time is known.
import type { SeeEvent } from '../../log/thread-reader.ts';
import type { UsualTime } from './waiting-sentence.ts';

export interface CallTimes {
  readonly see: SeeEvent;
  /** Of this operation at this tool server; null when no call of it was measured. */
  usual(operation: string, toolServer: string | null): UsualTime | null;
}

const timesMax = 20;

export function createCallTimes(): CallTimes {
  const open = new Map<string, { readonly of: string; readonly at: number }>();
  const times = new Map<string, number[]>();

  return {
    see(event, at) {
      if (event.type === 'ToolCallRequested')
        open.set(event.toolCallId, { of: nameOf(event.operation, event.toolServer), at });
      if (event.type === 'ChoiceRequested' || event.type === 'OauthRequested') open.delete(event.toolCallId); // (C1)
      if (event.type !== 'ToolCallSettled') return;
      const call = open.get(event.toolCallId);
      open.delete(event.toolCallId);
      if (call === undefined || event.outcome !== 'result') return;
      times.set(call.of, [...(times.get(call.of) ?? []), Math.max(0, at - call.at)].slice(-timesMax)); // (C2)
    },
    usual(operation, toolServer) {
      const measured = times.get(nameOf(operation, toolServer));
      if (measured === undefined) return null;
      const sorted = measured.toSorted((a, b) => a - b);
      return { ms: sorted[(sorted.length - 1) >> 1] ?? 0, calls: sorted.length };
    },
  };
}

const nameOf = (operation: string, toolServer: string | null): string => JSON.stringify([operation, toolServer]);
