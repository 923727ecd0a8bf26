import { tenantId } from '@dormouse/ports';
import {
  type decide,
  emptyTail,
  extendTranscript,
  type RecordedEvent,
  type Thread,
  type ThreadInput,
  unopenedThread,
} from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { momentOf } from '../rules/minted-ids.ts';
import { idKey, key, message } from '../spec/processor-rig.ts';
import { decideSlice, type Heart } from './decide-slice.ts';
import { deliveredItem, type InputItem } from './slice-item.ts';

const moment = momentOf(idKey, key, 1, null);

function item(id: string): InputItem {
  const made = deliveredItem({
    ...key,
    what: 'input',
    input: message(id),
    trace: null,
    decided: () => {},
    release: () => {},
  });
  if (made.what !== 'input') throw new Error('not an input');
  return made;
}

/** Records each input's id; `refuse` and `throw` in an id do what they say. */
const heart: Heart = {
  extendTranscript,
  decide: (thread: Thread, input: ThreadInput): ReturnType<typeof decide> => {
    if (input.id.includes('throw')) throw new Error(`cannot decide ${input.id}`);
    if (input.id.includes('refuse')) return { committed: false, refusal: 'NOT_PENDING' };
    const event: RecordedEvent = {
      type: 'RequestRefused',
      requestId: input.id,
      request: `${thread.position}`,
      code: '',
      detail: '',
      turnId: '',
      cause: { kind: 'request', id: input.id },
    };
    return {
      committed: true,
      events: [event],
      effects: [{ do: 'WithdrawCall', id: input.id, toolCallId: 'x' }],
      thread: { ...thread, position: thread.position + 1 },
    };
  },
};

const bounded = (commitBytesMax: number, ...ids: string[]): ReturnType<typeof decideSlice> =>
  decideSlice(
    heart,
    { thread: unopenedThread(tenantId('acme'), 't'), tail: emptyTail },
    ids.map(item),
    moment,
    commitBytesMax,
  );
const decided = (...ids: string[]): ReturnType<typeof decideSlice> => bounded(1_000_000, ...ids);

describe('a slice of several inputs', () => {
  it('decides each on the state after the ones before it, into one commit', () => {
    const slice = decided('a', 'b', 'c');
    if (slice.outcome !== 'commit') throw new Error('refused');
    expect(
      slice.events.map((event) => event.type === 'RequestRefused' && `${event.requestId}@${event.request}`),
    ).toEqual(['c:a@0', 'c:b@1', 'c:c@2']);
    expect(slice.effects.map((effect) => effect.id)).toEqual(['c:a', 'c:b', 'c:c']);
    expect(slice.thread.position).toBe(3);
  });

  it('V8 stops before a refusal that needs no commit: it never rides along unrecorded', () => {
    const slice = decided('a', 'refuse', 'c');
    expect(slice).toMatchObject({ outcome: 'commit', items: [{ input: { id: 'c:a' } }] });
  });

  it('answers a refusal at the head alone', () => {
    expect(decided('refuse', 'b')).toMatchObject({
      outcome: 'refused',
      refusal: 'NOT_PENDING',
      item: { input: { id: 'c:refuse' } },
    });
  });

  it('takes no further input once the commit is large', () => {
    expect(bounded(1, 'a', 'b', 'c')).toMatchObject({ outcome: 'commit', items: [{ input: { id: 'c:a' } }] });
  });

  it('V6 isolates an input that throws: the ones before it are committed, alone it is thrown', () => {
    expect(decided('a', 'throw', 'c')).toMatchObject({ outcome: 'commit', items: [{ input: { id: 'c:a' } }] });
    expect(() => decided('throw', 'c')).toThrow('cannot decide c:throw');
  });
});
