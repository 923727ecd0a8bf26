// RAP migration: tool servers that keep state get its new address, in the protocol's order; all of them move, or none.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, eventually, say, untilEvent, untilStatus } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import { fixture, normalised } from './fixture.ts';
import type { Prompt } from './recording-model.ts';
import { hangUp, type RecordingToolServer, type Reply, status, tool } from './recording-tool-server.ts';
import { aWhile, setRig, type Rig, tell } from './conformance-rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await setRig();
});
afterAll(() => rig.end());

const discovery = '/.well-known/rap-toolset';
const needsMigration = true;

interface Moving {
  readonly thread: string;
  readonly prompts: readonly Prompt[];
  /** The servers of the thread: one that keeps state, one that keeps none. */
  readonly keeping: RecordingToolServer;
  readonly plain: RecordingToolServer;
  readonly destinations: readonly [RecordingToolServer, RecordingToolServer];
  readonly move: () => Promise<unknown>;
}

/** An idle thread whose model calls both servers in its second turn. */
async function moving(reply: Reply = status(200)): Promise<Moving> {
  const started = await Promise.all(['keep', 'plain', 'keep', 'plain'].map(async () => rig.toolServer()));
  const [keeping, plain, first, second] = started as [
    RecordingToolServer,
    RecordingToolServer,
    RecordingToolServer,
    RecordingToolServer,
  ];
  for (const server of [keeping, first]) server.publish(server.manifest([tool('keep')], { needsMigration }));
  for (const server of [plain, second]) server.publish(server.manifest([tool('plain')]));
  keeping.replies('/migrate', reply);
  const script = [[{ text: 'ready' }], [toolCall('keep'), toolCall('plain')], [{ text: 'done' }]];
  const { thread, prompts } = await rig.watchedThread(script, [keeping, plain]);
  await say(rig.at, thread, 'hello');
  const tool_servers = { [keeping.name]: first.url, [plain.name]: second.url };
  const move = () => rig.at.request('POST', `/v1/threads/${thread}/migration`, { tool_servers });
  return { thread, prompts, keeping, plain, destinations: [first, second], move };
}

/** The server whose tools the next turn calls. */
async function calledBy({ thread, ...all }: Moving): Promise<readonly RecordingToolServer[]> {
  await tell(rig.at, thread, 'work');
  const servers = [all.keeping, all.plain, ...all.destinations];
  await eventually(async () => servers.flatMap((server) => server.invocations()).length === 2);
  return servers.filter((server) => server.invocations().length > 0);
}

describe('a migration', () => {
  it('R101 R102 asks the destinations first, tells each server that needs it once, and only then moves', async () => {
    const scene = await moving();
    const { thread, keeping, plain, destinations } = scene;
    expect(await scene.move()).toMatchObject({ status: 202 });
    expect(await untilEvent(rig.at, thread, 'migration_ended')).toMatchObject({ ok: true, migrated: [keeping.name] });
    const [request, ...more] = keeping.posts('/migrate');
    if (request === undefined) throw new Error('nothing was sent');
    expect(more).toEqual([]);
    const ended = (await eventsOf(rig.at, thread)).find(({ type }) => type === 'migration_ended');
    const names = { [thread]: 'thread', [destinations[0].url]: 'destination', [keeping.name]: 'server' };
    expect(normalised(request, { ...names, [ended.migration_id ?? 'none']: 'migration' })).toEqual(fixture('migrate'));
    for (const server of [plain, ...destinations]) expect(server.posts('/migrate')).toEqual([]);
    for (const server of destinations) expect(server.discoveries()[0]?.at).toBeLessThanOrEqual(request.at);
    await untilStatus(rig.at, thread, 'idle');
    expect(await calledBy(scene)).toEqual(destinations);
  });

  it('R102 stops the loop until it has ended: what comes meanwhile waits its turn', async () => {
    let answer = (): void => undefined;
    const scene = await moving((response) => {
      answer = () => void response.end();
    });
    await scene.move();
    await eventually(async () => scene.keeping.posts('/migrate').length === 1);
    await tell(rig.at, scene.thread, 'are you there?');
    await aWhile(500);
    expect(scene.prompts).toHaveLength(1);
    const before = (await eventsOf(rig.at, scene.thread)).map(({ type }) => type);
    expect(before.slice(-2)).toEqual(['migration_started', 'message_queued']);
    answer();
    await eventually(async () => scene.destinations.every((server) => server.invocations().length === 1));
    const types = (await eventsOf(rig.at, scene.thread)).map(({ type }) => type);
    expect(types.indexOf('migration_ended')).toBeLessThan(types.lastIndexOf('message_accepted'));
  });

  const failures: readonly (readonly [string, (scene: Moving) => void, Reply])[] = [
    ['the server answers 500', () => undefined, status(500)],
    ['the server answers 409', () => undefined, status(409, '{"error":"not now"}')],
    ['the server hangs up', () => undefined, hangUp],
    [
      'a destination offers nothing',
      ({ destinations }) => destinations[1].replies(discovery, status(503)),
      status(200),
    ],
  ];
  it.each(failures)('R103 is undone when %s: both servers stay where they are', async (_what, spoil, reply) => {
    const scene = await moving(reply);
    spoil(scene);
    await scene.move();
    const ended = await untilEvent(rig.at, scene.thread, 'migration_ended');
    expect(ended).toMatchObject({ ok: false, problems: [expect.any(String)] });
    expect(scene.keeping.posts('/migrate').length).toBeLessThanOrEqual(1);
    await untilStatus(rig.at, scene.thread, 'idle');
    expect(await calledBy(scene)).toEqual([scene.keeping, scene.plain]);
  });
});
