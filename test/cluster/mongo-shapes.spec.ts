// What the schemas of the MongoDB adapter refuse where it is written.
import { type MongoStores, openMongo } from '@dormouse/adapter-mongo';
import { Fault, type ThreadRow, type View } from '@dormouse/ports';
import mongoose, { type Connection } from 'mongoose';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withServices } from '../services/needed-services.ts';

const key = { tenant: 'acme', thread: 'thr_1' };
const call = { toolCallId: 'call_1', number: 1, at: 1, status: 200, durationMs: 5 };
const row: ThreadRow = {
  ...{ ...key, status: 'idle', agent: 'support', agentVersion: 1, parent: null, family: 'thr_1', userId: null },
  ...{ externalId: 'ticket-1', title: null, metadata: {}, createdAt: 1, updatedAt: 1, position: 1, opening: null },
};
withServices(['mongo'], ({ mongo: url }) => {
  const database = `shapes_${randomBytes(6).toString('hex')}`;
  let stores: MongoStores;
  let beside: Connection;
  const collection = (name: string) => beside.getClient().db(database).collection<{ _id: string }>(name);

  beforeAll(async () => {
    stores = await openMongo({ url, database, indexes: 'make' });
    beside = await mongoose.createConnection(url).asPromise();
    await stores.directory.insert(row);
  });
  afterAll(async () => {
    await stores.close();
    await beside.close();
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
