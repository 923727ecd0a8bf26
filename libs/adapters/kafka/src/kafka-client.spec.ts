import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import kafkajs from 'kafkajs';
import { expect, it } from 'vitest';
import { faultOf } from './kafka-client.ts';

it('a broker that takes connections and never answers is named with what may be in the way', async () => {
  const silent = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const kafka = new kafkajs.Kafka({
    ...{ brokers: [`127.0.0.1:${port}`], requestTimeout: 200, enforceRequestTimeout: true },
    ...{ retry: { retries: 0 }, logLevel: kafkajs.logLevel.NOTHING },
  });
  const admin = kafka.admin();
  try {
    const error: unknown = await admin.connect().catch((failure: unknown) => failure);
    expect(faultOf(error)).toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/^Kafka does not answer as it should \(.*DORMOUSE_KAFKA_BROKERS.*NetworkPolicy/),
    });
  } finally {
    await admin.disconnect();
    silent.close();
  }
});
