// The naive ingress-gateway: a message goes to the bus, its answer comes over Redis.
import fastify from 'fastify';
import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { connectEmitter } from './nest-kafka.ts';
import { type Input, required, topics } from './parts.ts';

const bus = await connectEmitter('naive-ingress');
const subscriber = new Redis(required('redis'));
/** By thread: the request that waits for its next answer. */
const waiting = new Map<string, (text: string) => void>();
subscriber.on('message', (channel: string, text: string) => waiting.get(channel)?.(text));

const app = fastify({ keepAliveTimeout: 60_000 });
app.post('/threads', async (_, reply) => {
  const id = randomUUID();
  await subscriber.subscribe(`answer:${id}`);
  return reply.code(201).send({ id });
});
app.post<{ Params: { id: string }; Body: { text: string } }>('/threads/:id/messages', async ({ params, body }) => {
  const { promise, resolve } = Promise.withResolvers<string>();
  waiting.set(`answer:${params.id}`, resolve);
  const input: Input = { thread: params.id, kind: 'user', text: body.text };
  await bus.emit(topics.inputs, params.id, input);
  return { text: await promise };
});
await app.listen({ host: '127.0.0.1', port: Number(required('port')) });
process.stdout.write('ready\n');
