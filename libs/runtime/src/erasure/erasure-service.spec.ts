// The erasure of a user, broken off at each of its writes, before and after it, beside a real processor in a memory
// world: the next process ends it, and what is stored is what an unbroken erasure leaves.
import { type MemoryWorld, type Operation, plainCipher, plainSealer } from '@dormouse/adapter-memory';
import type { ErasureRecord, InputBus, ThreadKey } from '@dormouse/ports';
import { inputIds, type ThreadInput } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { openCommit } from '../log/envelope.ts';
import { createFamilyKeyring } from '../sealed/family-keyring.ts';
import { key, message, newRow, opened, opening, type Rig } from '../thread-processor/spec/processor-rig.ts';
import { createErasureApi } from './erasure-api.ts';
import { createErasureService } from './erasure-service.ts';
import { createUserNames } from './user-name.ts';

const user = 'ann';
const keyKeptMs = 2_000;
const userNames = createUserNames([new TextEncoder().encode('a key for specs')]);
const signer = { kid: 'k1', sign: (text: string) => `signed ${text.length}`, keys: { keys: [] } };
const logger = { info: () => {}, warn: () => {}, error: () => {} };
const second: ThreadKey = { ...key, thread: 'thr_2' };
const fork: ThreadKey = { ...key, thread: 'thr_fork' };

type Break = { readonly at: number; readonly when: 'before' | 'after' } | null;

/** Of the writes of eraser processes, one is the last that its process ever does, or the first that it does not. */
function createBreaker(given: Break) {
  const writes: string[] = [];
  const dead = new Set<string>();
  const never = new Promise<never>(() => {});
  return {
    writes,
    gate: {
      pass: async <T>(node: string, { kind, name }: Operation, apply: () => T): Promise<T> => {
        if (dead.has(node)) return never;
        if (kind === 'read' || !node.startsWith('eraser')) return apply();
        writes.push(name);
        if (given?.at !== writes.length) return apply();
        dead.add(node);
        if (given.when === 'after') apply();
        return never;
      },
    },
    isDead: (node: string) => dead.has(node),
  };
}

async function scene(given: Break) {
  const breaker = createBreaker(given);
  const { rig, actor } = await opened({ gate: breaker.gate });
  const { ports } = actor;
  const insert = async (thread: ThreadKey, row: object, input: object = {}): Promise<void> => {
    await ports.directory.insert({ ...newRow, ...thread, family: thread.thread, ...row });
    const made = { ...opening(), id: inputIds.opening(thread.thread), ...input } as ThreadInput;
    if (thread !== key) await ports.inputs.publish(thread, made);
    await rig.clock.advance(50);
  };
  const metadata = { note: 'a label' };
  await insert(key, { userId: user, title: 'A title', metadata });
  await ports.inputs.publish(key, message('msg_1'));
  await rig.clock.advance(5_000);
  await insert(second, { userId: user, externalId: 'order-7' });
  const from = { from: { threadId: key.thread, position: 3 }, askAgain: false };
  await insert(
    fork,
    { userId: 'ben', forkedFrom: key.thread, metadata: { ...metadata, own: 'stays' } },
    { fork: from },
  );
  await rig.clock.advance(5_000);
  for (const { thread } of [key, second, fork])
    await ports.familyKeys.insert({ tenant: key.tenant, family: thread, sealed: `key of ${thread}` });
  for (const userId of [user, 'ben'])
    await ports.userCredentials.put({
      ...{ tenant: key.tenant, userId, toolServer: 'crm', type: 'bearer', origin: 'https://crm.example' },
      ...{ sealed: 's', version: 1, createdAt: 0, updatedAt: 0, expiresAt: null, lease: null, failedAt: null },
    });
  const api = createErasureApi({ ...ports, userNames, sealer: plainSealer, clock: rig.clock });
  return { breaker, rig, ports, api };
}

type Scene = Awaited<ReturnType<typeof scene>>;

function eraser({ breaker, rig, ports }: Scene, node: string) {
  const own = rig.world.ports(node);
  /** Consumed in the processor's process; the write is the eraser's. */
  const publish: InputBus['publish'] = (to, input) =>
    breaker.gate.pass(node, { name: 'inputs.publish', about: to.thread, kind: 'write' }, () => {
      void ports.inputs.publish(to, input);
    });
  const { clock } = rig;
  return createErasureService({
    ...{ ...own, inputs: { ...ports.inputs, publish }, stored: own },
    keyring: createFamilyKeyring({ ...own, sealer: plainSealer, cipher: plainCipher, clock, keptMs: keyKeptMs }),
    ...{ keyKeptMs, userNames, sealer: plainSealer, signer, clock, logger },
  });
}

const recordsOf = ({ world }: Rig): readonly ErasureRecord[] => [...world.durable.erasures.values()];

/** Erases until there is a certificate; a process that is dead is followed by another. */
async function erased(at: Scene): Promise<void> {
  for (let life = 1; life <= 3; life += 1) {
    const node = `eraser-${life}`;
    const service = eraser(at, node);
    await service.start();
    for (let step = 0; step < 60 && !at.breaker.isDead(node); step += 1) {
      await at.rig.clock.advance(500);
      if (recordsOf(at.rig).every(({ certificate }) => certificate !== null)) return;
    }
    if (!at.breaker.isDead(node)) throw new Error('it does not end');
  }
}

/** All but times, and hashes that follow from them. */
function remains(world: MemoryWorld) {
  const { directory, familyKeys, registry, snapshots, views, erasures } = world.durable;
  const untimed = (_name: string, value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).filter(([name]) => !/At$|^at$|signature|hash|prev/.test(name)))
      : value;
  const without = (value: unknown): unknown => JSON.parse(JSON.stringify(value, untimed));
  const logOf = (thread: ThreadKey) =>
    world
      .commits(thread)
      .map(({ version, kid, body, ...commit }) => [
        ...[version, kid],
        body === '' ? 'empty' : openCommit({ ...commit, kid, body }).events.map(({ type }) => type),
      ]);
  return {
    rows: without([...directory.values()]),
    logs: [key, second, fork].map(logOf),
    keys: [...familyKeys.values()],
    credentials: [...registry.userCredentials.values()].map(({ userId }) => userId),
    copies: [[...snapshots.keys()].filter((name) => !name.includes(fork.thread)), [...views.keys()]],
    erasures: [...erasures.values()].map(({ certificate, ...record }) => [
      without(record),
      without(JSON.parse(certificate ?? 'null')),
    ]),
  };
}

async function run(given: Break) {
  const at = await scene(given);
  const asked = await at.api.request(key.tenant, { userId: user });
  await erased(at);
  return { at, asked, remains: remains(at.rig.world) };
}

describe('an erasure of a user', () => {
  it('leaves the keys, contents, labels and credentials of the user nowhere, and those of others as they are', async () => {
    const { remains: left } = await run(null);
    expect(left.keys.map(({ family, sealed }) => [family, sealed === null])).toEqual([
      [key.thread, true],
      [second.thread, true],
      [fork.thread, false],
    ]);
    expect(left.credentials).toEqual(['ben']);
    expect(left.logs[0]?.slice(0, -1).every(([, , body]) => body === 'empty')).toBe(true);
    expect(left.logs[0]?.at(-1)?.[2]).toEqual(['ContentErased']);
    expect(JSON.stringify(left.rows)).not.toContain('a label');
    expect(JSON.stringify(left.rows)).toContain('stays');
    expect(left.erasures).toHaveLength(1);
  });

  it('(R1, R4) broken off before or after any write ends as an unbroken one, with one certificate', async () => {
    const whole = await run(null);
    const { writes } = whole.at.breaker;
    expect(new Set(writes)).toEqual(
      new Set([
        ...['erasures.replace', 'inputs.publish', 'familyKeys.erase', 'directory.patch', 'contentEraser.rewrite'],
        ...['remover.remove', 'userCredentials.remove', 'contentEraser.scrub'],
      ]),
    );
    for (let at = 1; at <= writes.length; at += 1)
      for (const when of ['before', 'after'] as const)
        expect((await run({ at, when })).remains, `${when} ${at}: ${writes[at - 1]}`).toEqual(whole.remains);
  });

  it('asked again, and worked at again, is the same with the same certificate', async () => {
    const { at } = await run(null);
    const before = recordsOf(at.rig);
    const again = await Promise.all([1, 2, 3].map(() => at.api.request(key.tenant, { userId: user })));
    for (const answer of again) expect(answer).toMatchObject({ value: { id: before[0]?.id, state: 'done' } });
    const service = eraser(at, 'eraser-late');
    await service.start();
    await at.rig.clock.advance(5_000);
    expect(recordsOf(at.rig)).toEqual(before);
  });

  it('of a user who does not exist ends, says so in its certificate, and erases nothing', async () => {
    const at = await scene(null);
    const before = remains(at.rig.world);
    await at.api.request(key.tenant, { userId: 'nemo' });
    await erased(at);
    const [record] = recordsOf(at.rig);
    expect(JSON.parse(record?.certificate ?? 'null')).toMatchObject({ scope: 'user', families: [] });
    expect({ ...remains(at.rig.world), erasures: [] }).toEqual(before);
  });

  it('of a user who has threads only later leaves them to the next erasure', async () => {
    const at = await scene(null);
    await at.api.request(key.tenant, { userId: 'nemo' });
    const service = eraser(at, 'eraser-1');
    await service.start();
    await at.rig.clock.advance(600);
    expect(recordsOf(at.rig)[0]?.keysErasedAt).not.toBeNull();
    const later: ThreadKey = { ...key, thread: 'thr_later' };
    await at.ports.directory.insert({ ...newRow, ...later, family: later.thread, userId: 'nemo' });
    await at.rig.clock.advance(5_000);
    const [record] = recordsOf(at.rig);
    expect(JSON.parse(record?.certificate ?? 'null')).toMatchObject({ families: [] });
    expect(await at.ports.directory.get(later)).toMatchObject({ userId: 'nemo', status: 'opening' });
    expect(await at.api.request(key.tenant, { userId: 'nemo' })).toMatchObject({ value: { state: 'running' } });
  });

  it('(user-name U1) named by its hash, as after a restore, takes the credentials too', async () => {
    const at = await scene(null);
    const [name] = userNames.of(key.tenant, user);
    await at.api.request(key.tenant, { userId: name });
    await erased(at);
    const left = remains(at.rig.world);
    expect(left.credentials).toEqual(['ben']);
    expect(left.keys.filter(({ sealed }) => sealed === null).map(({ family }) => family)).toEqual([
      key.thread,
      second.thread,
    ]);
  });
});
