// Everything that the servers of a cluster have stored, as bytes, for specs that search it.
import { Redis } from 'ioredis';
import type Mongoose from 'mongoose';
import { createRequire } from 'node:module';

// The driver that the adapter uses.
const mongoose = createRequire(new URL('../../libs/adapters/mongo/package.json', import.meta.url))(
  'mongoose',
) as typeof Mongoose;

/** Every document of every collection: what is in a binary field is seen too. */
export async function everyDocument(url: string, database: string): Promise<string> {
  const connection = await mongoose.createConnection(url).asPromise();
  const stored = connection.getClient().db(database);
  let all = '';
  for (const { name } of await stored.listCollections().toArray())
    for (const document of await stored.collection(name).find().toArray())
      all += `${name} ${Buffer.from(mongoose.mongo.BSON.serialize(document)).toString('latin1')}\n`;
  await connection.close();
  return all;
}

/** Every value of every key that begins with the prefix. */
export async function everyRedisValue(url: string, prefix: string): Promise<string> {
  const client = new Redis(url);
  let all = '';
  for await (const keys of client.scanStream({ match: `${prefix}*` }) as AsyncIterable<readonly string[]>)
    for (const key of keys) all += `${key} ${await valueOf(client, key)}\n`;
  client.disconnect();
  return all;
}

async function valueOf(client: Redis, key: string): Promise<string> {
  switch (await client.type(key)) {
    case 'list':
      return (await client.lrange(key, 0, -1)).join(' ');
    case 'hash':
      return JSON.stringify(await client.hgetall(key));
    case 'set':
      return (await client.smembers(key)).join(' ');
    case 'string':
      return (await client.get(key)) ?? '';
    default:
      return '';
  }
}
