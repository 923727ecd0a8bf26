// A request that is built before the commit that owes it is stored. (I3)
import type { InvokeTool } from '@dormouse/thread';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Service } from '../service.ts';
import { defaultDispatcherSettings } from './settings.ts';
import { createStage, invoke, key, type Peer, type Stage, weather } from './spec/stage.ts';

let stage: Stage;
let peer: Peer;
let dispatcher: Service;

beforeEach(async () => {
  await begin();
});

/** What a request is built from is known after the first call. */
async function begin(): Promise<void> {
  stage = createStage();
  peer = await stage.register('weather', { endpointOverride: 'https://weather.example/old' });
  await stage.store(weather);
  dispatcher = await stage.dispatcher();
  await stage.owe(invoke({ id: 'call_0', toolCallId: 'call_0' }));
  peer.posts.length = 0;
}

const expected = (effect: InvokeTool): void =>
  stage.ports.work.expect?.('dispatches', { ...key, effect, at: 1_000, trace: null });

/** One that tells how often it was built into a request. */
function counted(): { readonly effect: InvokeTool; readonly built: () => number } {
  let built = 0;
  const effect = invoke();
  Object.defineProperty(effect, 'callbackExpiresAt', {
    get: () => {
      built += 1;
      return null;
    },
  });
  return { effect, built: () => built };
}

describe('I3 a request that was built before its call was owed', () => {
  it('is the one that is sent, byte for byte what would be built later', async () => {
    const { effect, built } = counted();
    expected(effect);
    expect(built()).toBe(1);
    await stage.owe(effect);
    expect(built()).toBe(1);
    const [{ body, headers } = {}] = peer.posts;
    await begin();
    await stage.owe(invoke());
    expect(peer.posts).toMatchObject([{ body, headers }]);
  });

  it('is kept until it is asked for, and no longer', async () => {
    const { effect, built } = counted();
    expected(effect);
    await stage.owe(effect);
    await stage.owe(effect);
    expect(built()).toBe(2);
    expect(peer.posts).toHaveLength(1);
  });

  it('counts no longer when the registration that it was built from does not', async () => {
    const effect = invoke();
    expected(effect);
    const server = await stage.ports.toolServers.get(key.tenant, 'weather');
    if (server === null) throw new Error('it is registered');
    await stage.ports.toolServers.replace({ ...server, endpointOverride: 'https://weather.example/new' });
    await stage.clock.advance(defaultDispatcherSettings.registrationTtlMs);
    await stage.owe(effect);
    expect(peer.posts.map(({ url }) => url)).toEqual(['https://weather.example/new']);
  });

  it('is not sent when its call is never owed', async () => {
    expected(invoke());
    await stage.clock.advance(60_000);
    expect(peer.posts).toEqual([]);
  });

  it('is not sent when its call was withdrawn before it was owed', async () => {
    const effect = invoke();
    expected(effect);
    await stage.owe({ do: 'WithdrawCall', id: 'w', toolCallId: effect.toolCallId });
    await stage.owe(effect);
    expect(peer.posts).toEqual([]);
  });

  it('is sent once by the next life, when the one that built it stops', async () => {
    const effect = invoke();
    expected(effect);
    await dispatcher.stop(100);
    expected(effect);
    const debt = await stage.owe(effect);
    expect(peer.posts).toEqual([]);
    await stage.dispatcher();
    await stage.clock.advance(100);
    expect([peer.posts.length, debt.paid]).toEqual([1, true]);
  });
});
