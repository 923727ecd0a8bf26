import { tenantId } from '@dormouse/ports';
import type { ThreadInput } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { createDiscarded } from './discarded.ts';

const key = { tenant: tenantId('acme'), thread: 'thr_1' };
const event: ThreadInput = {
  kind: 'SubscriptionEvent',
  id: 'e:1',
  toolCallId: 'call_1',
  toolServer: 'tools',
  eventId: null,
  content: [{ type: 'text', text: 'a secret' }],
  associative: true,
  final: false,
};

function counting() {
  const lines: unknown[] = [];
  const info = (what: string, fields?: object): void => void lines.push([what, fields]);
  return { lines, discarded: createDiscarded({ info, warn: () => {}, error: () => {} }) };
}

describe('what nobody waits for', () => {
  it('R35 R81 R82 is counted and logged without its words, a flood of it in a few lines', () => {
    const { lines, discarded } = counting();
    for (let time = 0; time < 1_000; time++) discarded.note(key, event, 'NOT_SUBSCRIBED');
    expect(lines).toHaveLength(10); // 1, 2, 4 … 512
    const fields = { ...key, call: 'call_1', input: 'SubscriptionEvent', reason: 'NOT_SUBSCRIBED' };
    expect(lines[0]).toEqual(['callback_discarded', { ...fields, count: 1 }]);
    expect(lines.at(-1)).toEqual(['callback_discarded', { ...fields, count: 512 }]);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  it('R35 is counted for each thread and reason', () => {
    const { lines, discarded } = counting();
    discarded.note(key, event, 'NOT_SUBSCRIBED');
    discarded.note(key, event, 'CLOSED');
    discarded.note({ ...key, thread: 'thr_2' }, event, 'CLOSED');
    expect(lines).toHaveLength(3);
  });

  it('is nothing of our own: a timer that has fired twice is no news', () => {
    const { lines, discarded } = counting();
    discarded.note(key, { kind: 'TimerFiring', id: 't:1', timerId: '1', scheduledFor: 0 }, 'NO_TIMER');
    expect(lines).toEqual([]);
  });
});
