import { tenantId } from '../tenant-id.ts';
import { describe, expect, it } from 'vitest';
import { evolve } from '../evolve.ts';
import type { RecordedEvent, ThreadEvent } from '../event.ts';
import { type Thread, unopenedThread } from '../thread.ts';
import { dailyUsage } from './usage.ts';

const dayMs = 86_400_000;
const recorded = (event: ThreadEvent): RecordedEvent => ({
  ...event,
  turnId: 'msg_1',
  cause: { kind: 'message', id: 'm' },
});
const requested = recorded({ type: 'CompletionRequested', completionId: 'cmp_1', model: 'demo' } as ThreadEvent);
const answered = (inputTokens: number): RecordedEvent =>
  recorded({
    ...{ type: 'CompletionRecorded', completionId: 'cmp_1', message: { text: 'x' }, finishReason: 'stop' },
    ...{ usage: { inputTokens, outputTokens: 1 }, interrupted: false, final: true },
  } as ThreadEvent);

/** The thread after these events, each at its time. */
const after = (...events: readonly (readonly [RecordedEvent, number])[]): Thread =>
  events.reduce<Thread>((thread, [event, at]) => evolve(thread, event, at), unopenedThread(tenantId('acme'), 'thr_1'));

describe('usage by day', () => {
  it('U1 has what each of the last two days added, and together all of two', () => {
    const thread = after(
      [requested, 5 * dayMs],
      [answered(10), 5 * dayMs + 100],
      [requested, 5 * dayMs + 200],
      [answered(5), 5 * dayMs + 250],
      [requested, 7 * dayMs],
      [answered(3), 7 * dayMs + 40],
    );
    const [first, second] = dailyUsage(thread);
    expect(first).toMatchObject({ day: 5, inputTokens: 15, outputTokens: 2, completions: 2, activeMs: 150 });
    expect(second).toMatchObject({ day: 7, inputTokens: 3, outputTokens: 1, completions: 1, activeMs: 40 });
    expect((first?.inputTokens ?? 0) + (second?.inputTokens ?? 0)).toBe(thread.usage.inputTokens);
  });

  it('U1 keeps two days, however many there were', () => {
    const days = [1, 2, 3, 4].flatMap((day) => [
      [requested, day * dayMs] as const,
      [answered(day), day * dayMs + 1] as const,
    ]);
    expect(dailyUsage(after(...days)).map(({ day, inputTokens }) => [day, inputTokens])).toEqual([
      [3, 3],
      [4, 4],
    ]);
  });

  it('U2 counts time for the day on which it ended', () => {
    const thread = after([requested, 5 * dayMs], [answered(1), 6 * dayMs]);
    expect(dailyUsage(thread)).toMatchObject([{ day: 6, activeMs: dayMs }]);
  });

  it('is none for a thread that used nothing', () => {
    expect(dailyUsage(unopenedThread(tenantId('acme'), 'thr_1'))).toEqual([]);
  });
});
