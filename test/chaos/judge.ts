// The verdict on a chaos run: the checkers of the simulator over all logs, and what only several processes can break.
import { checkHistory, type History, readHistory, type Violation } from '@dormouse/testing';
import type { Waits } from './neighbours.ts';

export interface Finding {
  readonly id: Violation['id'] | 'one log' | 'neighbours';
  readonly text: string;
}

/** The share of messages beside a crowd that must be answered in their own phase: below it the crowd is in the way. */
const inTimeShareMin = 0.5;

export function judge(history: History, waits: Readonly<Record<string, Waits>>): readonly Finding[] {
  return [...checkHistory(history), ...inOneLog(history), ...inTime(waits)];
}

/** An acknowledged message is in the log of its own thread (I-01) and in no other. */
function inOneLog(history: History): readonly Finding[] {
  const logs = new Map<string, string[]>();
  for (const { name, decided } of readHistory(history).threads) {
    for (const input of decided.keys()) logs.set(input, [...(logs.get(input) ?? []), name]);
  }
  return history.requests.flatMap(({ inputId }) => {
    const where = logs.get(inputId) ?? [];
    return where.length > 1 ? [{ id: 'one log' as const, text: `${inputId} is in ${where.join(', ')}` }] : [];
  });
}

function inTime({ crowd }: Readonly<Record<string, Waits>>): readonly Finding[] {
  if (crowd === undefined || crowd.inTime >= crowd.messages * inTimeShareMin) return [];
  const text = `beside the crowd, without a fault, ${crowd.inTime} of ${crowd.messages} messages were answered before it ended`;
  return [{ id: 'neighbours', text }];
}

/** The figures of most interest first. */
export function countFindings(findings: readonly Finding[]): Readonly<Record<'lost' | 'doubled' | 'unended', number>> {
  const count = (wanted: (finding: Finding) => boolean): number => findings.filter(wanted).length;
  return {
    lost: count(({ id, text }) => id === 'I-01' && !/ 2xx and is in the log [^0]/.test(text)),
    doubled: count(
      ({ id, text }) =>
        id === 'I-02' ||
        id === 'one log' ||
        id === 'I-10' ||
        (id === 'I-01' && / 2xx and is in the log [^0]/.test(text)),
    ),
    unended: count(({ id }) => id === 'I-24'),
  };
}
