// What the schemas of the MongoDB adapter refuse: a document of another shape where it is read, whatever store reads
// it, and a field that no schema declares where it is written.
import { type MongoStores, openMongo } from '@dormouse/adapter-mongo';
import {
  type ActivityRow,
  type Agent,
  type ApiKey,
  Fault,
  type ThreadRow,
  type ToolServer,
  type View,
  tenantId,
} from '@dormouse/ports';
import { commitOf, messageOf } from '@dormouse/ports/contracts';
import mongoose, { type Connection } from 'mongoose';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { withServices } from '../services/needed-services.ts';

const acme = tenantId('acme');

const key = { tenant: acme, thread: 'thr_1' };
const page = { limit: 10, cursor: null };
const later = Date.now() + 3_600_000;
const call = { toolCallId: 'call_1', number: 1, at: 1, status: 200, durationMs: 5 };
const commit = commitOf(key, 0, { inputs: ['c:1'] });
const row: ThreadRow = {
  ...{ ...key, status: 'idle', agent: 'support', agentVersion: 1, parent: null, family: 'thr_1', userId: null },
  ...{ externalId: 'ticket-1', title: null, metadata: {}, createdAt: 1, updatedAt: 1, position: 1, opening: null },
};
const activityRow: ActivityRow = {
  ...{ tenant: acme, toolServerId: 'tsv_1', reporter: 'one', from: later, breaker: null, writtenAt: later },
  counts: { acks: {}, callbacks: {}, errors: {} },
};
/** Of a registry's object the store reads only what its list needs. */
const named = { tenant: acme, id: 'id_1', name: 'one' };

/** A collection, a field that is broken in each of its documents, and a read that meets one of them. */
type Broken = readonly [string, string, (stores: MongoStores) => Promise<unknown>];

const reads: readonly Broken[] = [
  ['commits', 'body', ({ log }) => log.read(key, 0)],
  ['commits', 'count', ({ log }) => log.head(key)],
  ['commits', 'hash', ({ log }) => log.at(key, 1)],
  ['commits', 'nonce', ({ log }) => log.findByInputs(key, ['c:1'])],
  ['snapshots', 'state', ({ snapshots }) => snapshots.latest(key)],
  ['timers', 'timerId', ({ timers }) => timers.due(10, 10)],
  ['timers', 'thread', ({ timers }) => timers.next()],
  ['threads', 'metadata', ({ directory }) => directory.get(key)],
  ['threads', 'position', ({ directory }) => directory.list(acme, {}, page)],
  ['claims', 'nonce', ({ ledger }) => ledger.read(key, 'call_1')],
  ['claims', 'attempts', ({ ledger }) => ledger.attempts(key, ['call_1'])],
  ['blobs', 'bytes', ({ blobs }) => blobs.get(acme, 'sha')],
  ['agents', 'document', ({ agents }) => agents.latest(acme, 'one')],
  ['agents', 'alias', ({ agents }) => agents.list(acme, page)],
  ['tool_servers', 'document', ({ toolServers }) => toolServers.get(acme, 'one')],
  ['toolsets', 'manifest', ({ toolsets }) => toolsets.get(acme, 'sha')],
  ['toolsets_last_good', 'sha256', ({ toolsets }) => toolsets.lastGood(acme, 'http://tools')],
  ['secrets', 'document', ({ secrets }) => secrets.list(acme)],
  ['api_keys', 'document', ({ apiKeys }) => apiKeys.bySha256('sha')],
  ['idempotency', 'claimedAt', ({ idempotency }) => idempotency.claim(acme, 'r', 'k', 'sha', 1, 1)],
  ['parked', 'mark', ({ parked }) => parked.mark(key)],
  ['parked', 'parkedAt', ({ parked }) => parked.list(acme, page)],
  ['parked_inputs', 'input', ({ parked }) => parked.inputs(key)],
  ['views', 'content', ({ views }) => views.list(key)],
  ['sealed', 'sealed', ({ logins }) => logins.list(key, 1)],
  ['tool_activity', 'counts', ({ toolActivity }) => toolActivity.read(acme, 'tsv_1', 0)],
  ['tool_discoveries', 'at', ({ toolActivity }) => toolActivity.read(acme, 'tsv_1', 0)],
  ['installation', 'bus', ({ installation }) => installation.read()],
];

withServices(['mongo'], ({ mongo: url }) => {
  const database = `shapes_${randomBytes(6).toString('hex')}`;
  let stores: MongoStores;
  let beside: Connection;
  const collection = (name: string) => beside.getClient().db(database).collection<{ _id: string }>(name);

  /** Changes documents natively; the spec's end undoes it. */
  async function change(name: string, update: object, filter: object = {}): Promise<void> {
    const before = await collection(name).find().toArray();
    await collection(name).updateMany(filter, update);
    onTestFinished(async () => {
      await collection(name).deleteMany({});
      await collection(name).insertMany(before);
    });
  }

  beforeAll(async () => {
    stores = await openMongo({ url, database, indexes: 'make' });
    beside = await mongoose.createConnection(url).asPromise();
    await stores.log.append([{ commit, owes: false }]);
    await stores.snapshots.put(key, { version: 1, shape: 1, state: '{}' });
    await stores.timers.set([{ ...key, timerId: 'tmr_1', due: 5 }]);
    await stores.directory.insert(row);
    await stores.ledger.settle(key, 'call_1', 'sent', '200', call);
    await stores.ledger.settle(key, 'call_2', 'sent', '200');
    await stores.blobs.put(acme, 'sha', new Uint8Array([1]), 'text/plain');
    await stores.agents.insert({ ...named, version: 1 } as Agent);
    await stores.toolServers.insert({ ...named } as ToolServer);
    await stores.toolsets.put({ tenant: acme, sha256: 'sha', manifest: '{}' });
    await stores.toolsets.putLastGood(acme, 'http://tools', 'sha');
    await stores.secrets.put({ ...named, origins: [], sealed: 's', createdAt: 1 });
    await stores.apiKeys.insert({ ...named, keySha256: 'sha' } as ApiKey);
    await stores.idempotency.claim(acme, 'r', 'k', 'sha', 1, 1);
    await stores.parked.park(key, 'why', 1);
    await stores.parked.add(key, messageOf('c:2'), null, 1);
    await stores.views.put(key, { viewType: 'list', content: '{"a":1}' });
    await stores.logins.put(key, { toolCallId: 'call_1', sealed: 's', expiresAt: later });
    await stores.toolActivity.put([activityRow], [{ tenant: acme, toolServerId: 'tsv_1', at: 1 }]);
    await stores.installation.claim({ cluster: 'c', prefix: '', partitions: 4 }, 'm');
  });
  afterAll(async () => {
    await stores.close();
    await beside.close();
  });

  const corrupt = (name: string, field: string) => ({
    code: 'DATABASE_CORRUPT',
    message: expect.stringMatching(
      new RegExp(`^The document .+ of the collection ${name} has another shape: its field ${field} `),
    ),
  });

  describe('a document of another shape', () => {
    it.each(reads)('of %s, whose %s is of another type, is refused where it is read', async (name, field, read) => {
      await expect(read(stores)).resolves.toBeTruthy(); // as it was stored
      await change(name, { $set: { [field]: true } });
      await expect(read(stores)).rejects.toMatchObject(corrupt(name, field));
    });

    it('is one that lacks a field, too', async () => {
      await change('commits', { $unset: { hash: '' } });
      await expect(stores.log.read(key, 0)).rejects.toMatchObject(corrupt('commits', 'hash'));
    });

    it('fails its own reader, and no other that shares the query', async () => {
      await change('claims', { $set: { outcome: 7 } }, { _id: /call_1/ });
      const both = await Promise.allSettled(['call_1', 'call_2'].map((id) => stores.ledger.read(key, id)));
      expect(both).toMatchObject([
        { status: 'rejected', reason: corrupt('claims', 'outcome') },
        { status: 'fulfilled', value: { outcome: 'sent' } },
      ]);
    });

    it('is not one to which a newer version has added a field', async () => {
      for (const name of new Set(reads.map(([each]) => each))) await change(name, { $set: { newer: { a: 1 } } });
      for (const [, , read] of reads) await expect(read(stores)).resolves.toBeTruthy();
    });
  });

  describe('a field that no schema declares, or of another type', () => {
    const odd = { ...row, thread: 'thr_2', externalId: null };
    it.each<[string, string, () => Promise<unknown>]>([
      ['inserted', 'threads', () => stores.directory.insert({ ...odd, extra: 1 } as ThreadRow)],
      ['inserted', 'threads', () => stores.directory.insert({ ...odd, createdAt: 'soon' as never })],
      [
        'inserted with others',
        'claims',
        () => stores.ledger.record(key, { ...call, toolCallId: 'c', at: 'soon' as never }),
      ],
      ['updated', 'threads', () => stores.directory.patch(key, { title: { a: 1 } as never })],
      ['updated with others', 'threads', () => stores.directory.project([{ ...row, updatedAt: 'soon' as never }])],
      ['replaced', 'views', () => stores.views.put(key, { viewType: 'list', content: '1', extra: 1 } as View)],
      ['replaced', 'views', () => stores.views.put(key, { viewType: 'list', content: { a: 1 } as never })],
    ])('is not %s: nothing of %s changes, and the error is not one that is repeated', async (_, name, write) => {
      const before = await collection(name).find().sort({ _id: 1 }).toArray();
      await expect(write()).rejects.not.toBeInstanceOf(Fault);
      expect(await collection(name).find().sort({ _id: 1 }).toArray()).toEqual(before);
    });
  });
});
