// What a later release must show of an installation that an earlier one has left.
import { expect } from 'vitest';
import { eventsOf, say, type System, untilStatus } from '../e2e/conversation.ts';
import type { Release } from './corpus.ts';
import { recordedOf } from './recorded-threads.ts';

type Expected = Release['expected'];

/** As of the position that was the last one then: a later release may say more of a thread, and nothing else. */
export async function readsAlike(at: System, { threads }: Expected): Promise<void> {
  expect(Object.keys(threads).length).toBeGreaterThan(2);
  for (const [name, before] of Object.entries(threads))
    expect({ name, ...(await recordedOf(at, before.id, before.position)) }).toMatchObject({ name, ...before });
}

export async function goesOn(at: System, { threads: { idle } }: Expected): Promise<void> {
  if (idle === undefined) throw new Error('this release recorded no idle thread');
  expect(await say(at, idle.id, 'still there?')).toMatchObject({ status: 'idle' });
  const events = await eventsOf(at, idle.id);
  expect(events.slice(idle.events.length).map(({ type }) => type)).toEqual([
    ...['message_accepted', 'completion_requested', 'completion_recorded'],
  ]);
}

/** Sent twice, to the address that the release gave to the tool server. */
export async function takesTheResultOnce(
  at: System,
  { call: { thread, id, path } }: Expected,
  callbacks: string = at.url,
): Promise<void> {
  const body = JSON.stringify({ type: 'tool_result', id, group_id: thread, text: 'done' });
  const headers = { 'content-type': 'application/json' };
  for (let nth = 0; nth < 2; nth += 1)
    expect((await fetch(callbacks + path, { method: 'POST', headers, body })).status).toBe(200);
  await untilStatus(at, thread, 'idle');
  const types = (await eventsOf(at, thread)).map(({ type }) => type);
  expect(types.filter((type) => type === 'tool_call_settled')).toHaveLength(1);
  expect(types.at(-1)).toBe('completion_recorded');
}
