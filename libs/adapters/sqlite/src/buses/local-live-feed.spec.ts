import { tenantId, type FoldedCommit, type Hint } from '@dormouse/ports';
import { type Thread, unopenedThread } from '@dormouse/thread';
import { expect, it } from 'vitest';
import { createLocalLiveFeed } from './local-live-feed.ts';

const key = { tenant: tenantId('acme'), thread: 'thr_1' };
const delta = { completionId: 'cmp_1', attempt: 1, offset: 0, kind: 'text', index: 0, text: 'hello' } as const;

function committed(completion: Thread['completion'], body = '{"events":[]}'): Hint {
  const before = unopenedThread(tenantId('acme'), 'thr_1');
  const after: FoldedCommit = { before, events: [], thread: { ...before, completion } };
  return { hint: 'committed', commit: { body } as never, after };
}

const running = (completionId: string): Thread['completion'] =>
  ({ completionId }) as Partial<Thread['completion']> as Thread['completion'];

it.each([
  ['goes on', committed(running('cmp_1')), 1],
  ['is over', committed(null), 0],
  ['made room for another', committed(running('cmp_2')), 0],
  // The state after the commit counts, not the text of its body.
  ['goes on', committed(running('cmp_1'), '"type":"CompletionRecorded"'), 1],
])('H2 what was said is kept for late clients until the completion is over: it %s', async (_, hint, kept) => {
  const feed = createLocalLiveFeed({ soFarCharactersMax: 100, threadsMax: 10 });
  feed.publish(key, { hint: 'delta', delta });
  feed.publish(key, hint);
  expect(await feed.soFar(key)).toHaveLength(kept);
});
