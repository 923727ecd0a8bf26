// One thread with everything that a thread can wait for: a subscription, a sleep, an event that wakes it, a child that
// reports, a choice, the result. The README's walk-through does the same in one process; here it runs on both
// topologies.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { say, untilEvent, untilStatus } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import { eventsOfType, setRig, type Rig } from './conformance-rig.ts';
import type { Prompt } from './recording-model.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await setRig();
});
afterAll(() => rig.end());

const lastOf = ({ messages }: Prompt): string => JSON.stringify(messages.at(-1)?.content ?? '');

/** Its next step depends on the last event. */
function wakes(prompt: Prompt) {
  const last = lastOf(prompt);
  if (last.includes('watch the door')) return [toolCall('work')];
  if (last.includes('subscribed')) return [toolCall('sleep', { seconds: 2 })];
  if (last.includes('the door opened')) return [toolCall('spawn_thread', { instructions: 'look who it is' })];
  if (last.includes('look who it is')) return [toolCall('report_to_parent', { report: 'it is the postman' })];
  if (last.includes('it is the postman')) return [toolCall('work')];
  if (last.includes('let him in')) return [{ text: 'The postman is in.' }];
  return [{ text: 'Waiting.' }];
}

it('a thread that subscribes, sleeps, is woken, has a child report, asks a choice and answers', async () => {
  const { at } = rig;
  const server = await rig.toolServer();
  const { thread } = await rig.watchedThread(wakes, [server]);

  const asleep = say(at, thread, 'watch the door');
  const watch = await server.invocation(0);
  await server.send(watch, { type: 'tool_result', text: 'subscribed', subscription: true });
  expect(await asleep).toMatchObject({ status: 'waiting', waiting_on: [{ kind: 'timer' }] });
  await untilEvent(at, thread, 'timer_fired');
  await untilStatus(at, thread, 'idle');

  await server.send(watch, {
    type: 'subscription_event',
    tool_call_id: watch.id,
    text: 'the door opened',
    associative: true,
    event_id: 'evt_1',
  });
  const { child_id: child } = await untilEvent(at, thread, 'child_spawned');
  expect(await untilEvent(at, thread, 'child_reported')).toMatchObject({
    child_id: child,
    report: 'it is the postman',
  });

  const greet = await server.invocation(1);
  const response_url = `${server.url}/answers/1`;
  await server.send(greet, { type: 'user_choice', prompt: 'Open?', choices: ['yes', 'no'], default: 1, response_url });
  const { choice_id: choice } = await untilEvent(at, thread, 'choice_requested');
  expect((await at.request('POST', `/v1/threads/${thread}/choices/${choice}`, { selected: 0 })).status).toBe(202);
  await expect.poll(() => server.posts('/answers/1').map(({ json }) => json)).toEqual([{ id: greet.id, selected: 0 }]);
  await server.send(greet, { type: 'tool_result', text: 'let him in' });
  await untilStatus(at, thread, 'idle');

  const spoken = (await eventsOfType(at, thread, 'completion_recorded')).at(-1);
  expect(spoken).toMatchObject({ message: { text: 'The postman is in.' } });
  const { json } = await at.request('GET', `/v1/threads/${thread}/subscriptions`);
  expect(json.data).toMatchObject([{ tool_call_id: watch.id, events: 1 }]); // the subscription stays
});
