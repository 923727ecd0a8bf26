import { Fault, type FetchOutcome } from '@dormouse/ports';
import type { LoadToolsets, ToolsetsResult } from '@dormouse/thread';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { faulty } from '../spec/faulty.ts';
import { createRig, join, key, sha256Of, type Rig, status, weather } from '../spec/dispatcher-rig.ts';

let rig: Rig;

beforeEach(() => {
  rig = createRig();
});

const tool = (name: string, annotations?: object): object => ({
  name,
  description: `does ${name}`,
  inputSchema: { type: 'object' },
  annotations,
});
const manifest = (name: string, ...tools: readonly object[]): typeof weather => ({
  ...weather,
  name,
  tools: tools as typeof weather.tools,
});
const unreachable: FetchOutcome = { ok: false, code: 'TOOLSET_UNREACHABLE', detail: 'nobody listens there' };

async function load(
  toolServers: readonly string[],
  loadId = 'tsl_1',
  cause: { readonly afterChange?: true } = {},
): Promise<ToolsetsResult> {
  await rig.owe({ do: 'LoadToolsets', id: `ts:${loadId}`, loadId, toolServers, ...cause });
  const result = rig.inputs.at(-1);
  if (result?.kind !== 'ToolsetsResult') throw new Error('no answer');
  return result;
}

describe('loading toolsets', () => {
  it('R20 R24 asks every server and answers with what each offers', async () => {
    const [first, second] = [await rig.register('weather'), await rig.register('files')];
    second.manifest = manifest('Files', tool('read'), tool('delete', { destructive: true }));
    await rig.dispatcher();
    const result = await load(['weather', 'files']);
    expect(result).toEqual({
      kind: 'ToolsetsResult',
      id: 'ts:tsl_1',
      loadId: 'tsl_1',
      toolsets: [
        {
          toolServer: 'weather',
          name: 'weather',
          sha256: sha256Of(weather),
          tools: ['forecast'],
          definitions: [expect.stringMatching(/^[\da-f]{16}$/)],
          destructive: [],
          atMostOnce: [],
          stale: false,
        },
        {
          toolServer: 'files',
          name: 'Files',
          sha256: sha256Of(second.manifest as object),
          tools: ['read', 'delete'],
          definitions: [expect.any(String), expect.any(String)],
          destructive: ['delete'],
          atMostOnce: ['delete'],
          stale: false,
        },
      ],
      withheld: [],
      rejected: [],
    });
    expect([first.gets.length, second.gets.length]).toEqual([1, 1]);
    expect(await rig.ports.toolsets.lastGood(key.tenant, 'https://weather.example')).toBe(sha256Of(weather));
    expect((await rig.ports.toolsets.get(key.tenant, sha256Of(weather)))?.manifest).toContain('"forecast"');
  });

  it.each([
    ['https://a.example', 'https://a.example/.well-known/rap-toolset'],
    ['https://a.example/', 'https://a.example/.well-known/rap-toolset'],
    ['https://a.example/tools/v1', 'https://a.example/tools/v1/.well-known/rap-toolset'],
    ['https://a.example/tools/v1/', 'https://a.example/tools/v1/.well-known/rap-toolset'],
  ])('R16 R17 discovers %s at %s', async (baseUrl, url) => {
    const peer = await rig.register('weather', { baseUrl });
    await rig.dispatcher();
    await load(['weather']);
    expect(peer.gets).toEqual([url]);
  });

  it('R24 a new session sees a changed manifest, and the old one stays stored', async () => {
    const peer = await rig.register('weather');
    await rig.dispatcher();
    await load(['weather']);
    peer.manifest = manifest('weather', tool('radar'));
    expect((await load(['weather'], 'tsl_2')).toolsets[0]?.tools).toEqual(['radar']);
    expect(peer.gets).toHaveLength(2);
    expect(await rig.ports.toolsets.get(key.tenant, sha256Of(weather))).not.toBeNull();
  });

  it('R24 R107 threads that were told of a change share one reading; a new one has its own, whatever was read just now', async () => {
    const peer = await rig.register('weather');
    await rig.dispatcher();
    await load(['weather'], 'tsl_1', { afterChange: true });
    await load(['weather'], 'tsl_2', { afterChange: true });
    expect(peer.gets).toHaveLength(1);
    await load(['weather'], 'tsl_3');
    expect(peer.gets).toHaveLength(2);
  });

  it('R18 R19 a manifest with one bad tool of three gives nothing, with the reason', async () => {
    const peer = await rig.register('weather');
    peer.manifest = manifest('weather', tool('a'), { name: 'b c', description: '', inputSchema: {} }, tool('d'));
    await rig.dispatcher();
    const { toolsets, rejected } = await load(['weather']);
    expect(toolsets).toEqual([]);
    expect(rejected).toEqual([
      { toolServer: 'weather', code: 'TOOLSET_INVALID', problems: [expect.stringContaining('/tools/1/name')] },
    ]);
  });

  it.each(['not json', '', '[]', '<html>', '{"name":"a","name":"b"}', `${'['.repeat(40)}${']'.repeat(40)}`])(
    'R19 refuses the manifest %s',
    async (text) => {
      (await rig.register('weather')).manifest = text;
      await rig.dispatcher();
      expect((await load(['weather'])).rejected).toMatchObject([{ code: 'TOOLSET_INVALID' }]);
    },
  );

  it('R19 says how many more defects there are when it does not show all of them', async () => {
    const peer = await rig.register('weather');
    peer.manifest = manifest(
      'weather',
      ...Array.from({ length: 25 }, (_, index) => ({ ...tool(`t${index}`), description: 1 })),
    );
    await rig.dispatcher();
    const [rejection] = (await load(['weather'])).rejected;
    expect(rejection?.problems).toHaveLength(21);
    expect(rejection?.problems.at(-1)).toBe('and 5 more');
  });

  it('R19 an invalid manifest gives nothing even when an older one was good', async () => {
    const peer = await rig.register('weather');
    await rig.dispatcher();
    await load(['weather']);
    peer.manifest = '{}';
    const { toolsets, rejected } = await load(['weather'], 'tsl_2');
    expect([toolsets, rejected.length]).toEqual([[], 1]);
  });

  it.each([unreachable, { ok: true, status: 503, body: '' } as const, { ok: true, status: 302, body: '' } as const])(
    'R25 a server that cannot be reached gives its last good manifest, marked stale',
    async (answer) => {
      const peer = await rig.register('weather');
      await (await rig.dispatcher()).stop(0);
      await rig.dispatcher();
      await load(['weather']);
      peer.manifest = answer;
      const { toolsets, rejected } = await load(['weather'], 'tsl_2');
      expect(toolsets).toMatchObject([{ toolServer: 'weather', tools: ['forecast'], stale: true }]);
      expect(rejected).toEqual([]);
    },
  );

  it('R25 the last good manifest of another address of the server is none of this one', async () => {
    await rig.register('weather');
    await rig.dispatcher();
    await load(['weather']);
    const moved = 'https://moved.example';
    const destination = join(rig, moved);
    destination.manifest = unreachable;
    const loadAt = {
      do: 'LoadToolsets',
      id: 'tsl_2',
      loadId: 'tsl_2',
      toolServers: ['weather'],
      baseUrls: { weather: moved },
    };
    await rig.owe(loadAt as LoadToolsets);
    expect(rig.inputs.at(-1)).toMatchObject({ toolsets: [], rejected: [{ code: 'TOOLSET_UNREACHABLE' }] });
  });

  it('R25 a migration that is refused leaves nothing to remember of its destination', async () => {
    const peer = await rig.register('weather');
    await rig.dispatcher();
    peer.manifest = { ...weather, needsMigration: true };
    peer.answers = [status(500)];
    await load(['weather']);
    const destination = join(rig, 'https://moved.example');
    destination.manifest = { ...weather, toolset_version: '9' };
    const toolServers = { weather: 'https://moved.example' };
    await rig.owe({ do: 'MigrateToolServers', id: 'mig_1', migrationId: 'mig_1', session: 's', toolServers });
    expect(rig.inputs.at(-1)).toMatchObject({
      kind: 'MigrationResult',
      problems: [expect.stringContaining('HTTP 500')],
    });
    expect(destination.gets).toHaveLength(1);
    const { toolsets } = rig.ports;
    expect(await toolsets.lastGood(key.tenant, 'https://moved.example')).toBeNull();
    expect(await toolsets.get(key.tenant, sha256Of(destination.manifest))).toBeNull();
    expect(await toolsets.lastGood(key.tenant, 'https://weather.example')).toBe(sha256Of(peer.manifest));
  });

  it('R25 a server that never answered is reported', async () => {
    (await rig.register('weather')).manifest = unreachable;
    await rig.dispatcher();
    const { toolsets, rejected } = await load(['weather', 'unheard']);
    expect(toolsets).toEqual([]);
    expect(rejected).toEqual([
      { toolServer: 'weather', code: 'TOOLSET_UNREACHABLE', problems: ['nobody listens there'] },
      { toolServer: 'unheard', code: 'TOOLSET_UNREACHABLE', problems: ['the tool server is not registered'] },
    ]);
  });

  it('I-22 a forbidden address gives nothing, not even the last good manifest', async () => {
    const peer = await rig.register('weather');
    await rig.dispatcher();
    await load(['weather']);
    peer.manifest = { ok: false, code: 'OUTBOUND_FORBIDDEN', detail: 'not there' };
    expect(await load(['weather'], 'tsl_2')).toMatchObject({
      toolsets: [],
      rejected: [{ code: 'OUTBOUND_FORBIDDEN' }],
    });
  });

  it('R21 the same tool name in two toolsets: neither is offered, the others stay', async () => {
    (await rig.register('one')).manifest = manifest('one', tool('search'), tool('read'));
    (await rig.register('two')).manifest = manifest('two', tool('search', { destructive: true }), tool('Search'));
    await rig.dispatcher();
    const { toolsets, withheld } = await load(['one', 'two']);
    expect(toolsets.map(({ tools, destructive, atMostOnce }) => [tools, destructive, atMostOnce])).toEqual([
      [['read'], [], []],
      [['Search'], [], []],
    ]);
    expect(withheld).toEqual([{ tool: 'search', reason: 'offered by "one" and "two"' }]);
  });

  it('R22 names differ by case', async () => {
    (await rig.register('one')).manifest = manifest('one', tool('Foo'), tool('foo'));
    await rig.dispatcher();
    expect((await load(['one'])).toolsets[0]?.tools).toEqual(['Foo', 'foo']);
  });

  it.each([['a b'], ['x'.repeat(129)], ['foo', 'foo'], ['']])('R22 refuses the names %j', async (...names) => {
    (await rig.register('one')).manifest = manifest('one', ...names.map((name) => tool(name)));
    await rig.dispatcher();
    expect((await load(['one'])).rejected).toMatchObject([{ code: 'TOOLSET_INVALID' }]);
  });

  it('R21 a server that is listed twice does not clash with itself', async () => {
    await rig.register('weather');
    await rig.dispatcher();
    expect((await load(['weather', 'weather'])).toolsets).toHaveLength(1);
  });

  it.each(['sleep', 'close_thread', 'cancel_subscription'])(
    'R72 a tool that has the name of ours (%s) is not offered',
    async (name) => {
      (await rig.register('one')).manifest = manifest('one', tool(name), tool('read'));
      await rig.dispatcher();
      const { toolsets, withheld } = await load(['one']);
      expect(toolsets[0]?.tools).toEqual(['read']);
      expect(withheld).toEqual([{ tool: name, reason: 'the name is reserved; offered by "one"' }]);
    },
  );

  it('R72 a manifest with the reserved name is refused', async () => {
    (await rig.register('one')).manifest = manifest('one', tool('receive_event__injected'));
    await rig.dispatcher();
    expect((await load(['one'])).rejected).toMatchObject([{ code: 'TOOLSET_INVALID' }]);
  });

  it('R30 a pin that matches is used; one that does not is refused and not remembered', async () => {
    const pinned = sha256Of(weather);
    const peer = await rig.register('weather', { pinnedSha256: pinned });
    await rig.dispatcher();
    expect((await load(['weather'])).toolsets).toMatchObject([{ sha256: pinned }]);
    peer.manifest = manifest('weather', tool('forecast', { destructive: false }));
    const { rejected } = await load(['weather'], 'tsl_2');
    expect(rejected).toMatchObject([{ code: 'TOOLSET_INVALID', problems: [expect.stringContaining('pinned hash')] }]);
    expect(await rig.ports.toolsets.lastGood(key.tenant, 'https://weather.example')).toBe(pinned);
  });

  it('R24 families that begin together each ask the server, and the store once', async () => {
    const peer = await rig.register('weather');
    const read = vi.spyOn(rig.ports.toolsets, 'lastGood');
    await rig.dispatcher();
    await load(['weather']);
    const [asked, readBefore] = [peer.gets.length, read.mock.calls.length];
    await Promise.all(Array.from({ length: 20 }, (_, nth) => load(['weather'], `tsl_${nth + 2}`)));
    expect(peer.gets.length - asked).toBe(20);
    expect(read.mock.calls.length - readBefore).toBeLessThan(5);
  });

  it('R30 an unpinned last good manifest is no way around a pin', async () => {
    const peer = await rig.register('weather');
    await rig.dispatcher();
    await load(['weather']);
    const server = await rig.ports.toolServers.get(key.tenant, 'weather');
    if (server !== null) await rig.ports.toolServers.replace({ ...server, pinnedSha256: 'f'.repeat(64) }, server);
    await rig.clock.advance(2_000);
    peer.manifest = unreachable;
    expect((await load(['weather'], 'tsl_2')).rejected).toMatchObject([{ code: 'TOOLSET_UNREACHABLE' }]);
  });

  it.each([
    [{ destructive: true }, false, true],
    [{ destructive: true, idempotent: true }, false, true],
    [{ destructive: true, idempotent: true }, true, false],
    [{ idempotent: true }, true, false],
    [{ destructive: false }, false, false],
  ])(
    'annotations only tighten: %j with trust %s is at most once: %s',
    async (annotations, trustAnnotations, expected) => {
      (await rig.register('one', { trustAnnotations })).manifest = manifest('one', tool('act', annotations));
      await rig.dispatcher();
      expect((await load(['one'])).toolsets[0]?.atMostOnce).toEqual(expected ? ['act'] : []);
    },
  );

  it('R28 tolerates annotations it does not know', async () => {
    (await rig.register('one')).manifest = manifest('one', tool('act', { 'x-acme-foo': { deep: [1] } }));
    await rig.dispatcher();
    expect((await load(['one'])).toolsets).toHaveLength(1);
  });

  it('L5 a paused server is not asked, and gives its last good manifest', async () => {
    const peer = await rig.register('weather');
    peer.manifest = weather;
    await rig.dispatcher();
    const { toolsets } = await load(['weather']);
    const server = await rig.ports.toolServers.get(key.tenant, 'weather');
    if (server !== null) await rig.ports.toolServers.replace({ ...server, paused: true }, server);
    await rig.clock.advance(5_000);
    const asked = peer.gets.length;
    expect((await load(['weather'])).toolsets).toEqual(toolsets.map((toolset) => ({ ...toolset, stale: true })));
    expect(peer.gets).toHaveLength(asked);
  });

  it('L5 a paused server that was never asked has no tools', async () => {
    const peer = await rig.register('weather', { paused: true });
    await rig.dispatcher();
    expect((await load(['weather'])).rejected).toMatchObject([
      { problems: ['the tool server is paused by an operator'] },
    ]);
    expect(peer.gets).toEqual([]);
  });

  it('answers in the end when a store fails for a while', async () => {
    await rig.register('weather');
    let down = 2;
    const toolsets = faulty(rig.ports.toolsets, 'put', () => (down-- > 0 ? new Fault('UNAVAILABLE', 'down') : null));
    await rig.dispatcher({}, { toolsets });
    const debt = await rig.owe({ do: 'LoadToolsets', id: 'ts:tsl_1', loadId: 'tsl_1', toolServers: ['weather'] });
    expect([debt.paid, rig.inputs]).toEqual([false, []]);
    await rig.clock.advance(60_000);
    expect([debt.paid, rig.inputs.length]).toEqual([true, 1]);
  });
});
