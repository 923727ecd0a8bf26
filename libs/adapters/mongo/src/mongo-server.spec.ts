import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Mongoose } from 'mongoose';
import { expect, it } from 'vitest';
import { faultOf } from './mongo-server.ts';

it('a server that takes connections and never answers is named with what may be in the way', async () => {
  const silent = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const mongoose = new Mongoose();
  try {
    const error: unknown = await mongoose
      .connect(`mongodb://127.0.0.1:${port}/`, { serverSelectionTimeoutMS: 200, connectTimeoutMS: 100_000 })
      .catch((failure: unknown) => failure);
    expect(faultOf(error)).toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/^No database answers at DORMOUSE_MONGO_URL in time: .*NetworkPolicy/),
    });
  } finally {
    await mongoose.disconnect();
    silent.close();
  }
});
