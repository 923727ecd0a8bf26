import { describe, expect, it } from 'vitest';
import type { ThreadEvent } from '@dormouse/client';
import { chunkSize, createEventLog } from './event-log.ts';

const event = (position: number, fields: Readonly<Record<string, unknown>> = { type: 'timer_set' }): ThreadEvent =>
  ({
    position,
    at: '2026-01-01T00:00:00.000Z',
    turn_id: 't',
    cause: { kind: 'timer', id: 'i' },
    ...fields,
  }) as ThreadEvent;

/** A log of a thread that has so many events. */
function logOf(events: number) {
  const asked: number[] = [];
  const log = createEventLog(async (after, limit) => {
    asked.push(after);
    return Array.from({ length: Math.max(0, Math.min(limit, events - after)) }, (_, index) => event(after + index + 1));
  }, events);
  return { log, asked };
}

describe('the log of a page', () => {
  it('loads the chunk that is wanted, once', async () => {
    const { log, asked } = logOf(1_000);
    await Promise.all([log.want(2), log.want(2)]);
    await log.want(2);
    expect(asked).toEqual([2 * chunkSize]); // (E2)
    expect(log.event(2 * chunkSize + 1)?.position).toBe(2 * chunkSize + 1);
    expect(log.event(1)).toBeUndefined();
  });

  it('grows by the stream without a gap or a repeat (E1)', async () => {
    const { log } = logOf(10);
    await log.want(0);
    for (const position of [11, 12, 12, 11, 13]) log.append(event(position));
    expect(log.chunk(0)?.map(({ position }) => position)).toEqual(Array.from({ length: 13 }, (_, index) => index + 1));
    expect(log.length).toBe(13);
  });

  it('goes on behind what the stream has brought meanwhile', async () => {
    let answer: (events: readonly ThreadEvent[]) => void = () => {};
    const log = createEventLog(() => new Promise((resolve) => (answer = resolve)), 2);
    const loading = log.want(0);
    answer([event(1), event(2)]);
    await loading;
    log.append(event(3));
    expect(log.chunk(0)?.map(({ position }) => position)).toEqual([1, 2, 3]);
  });

  it('drops old chunks and keeps the last (E3)', async () => {
    const { log } = logOf(chunkSize * 300);
    await log.want(299);
    for (let chunk = 0; chunk < 200; chunk += 1) await log.want(chunk);
    expect(log.chunk(0)).toBeUndefined();
    expect(log.chunk(299)).toHaveLength(chunkSize);
  });

  it('knows of a call what its events say', async () => {
    const { log } = logOf(0);
    log.append(event(1, { type: 'tool_call_requested', tool_call_id: 'call_1' }));
    log.append(event(2, { type: 'choice_requested', tool_call_id: 'call_1', choice_id: 'chc_1' }));
    log.append(event(3, { type: 'choice_settled', choice_id: 'chc_1' }));
    log.append(event(4, { type: 'tool_call_settled', tool_call_id: 'call_1' }));
    const { requested, choice, choiceSettled, settled } = log.call('call_1');
    expect([requested, choice, choiceSettled, settled].map((each) => each?.position)).toEqual([1, 2, 3, 4]);
  });
});
