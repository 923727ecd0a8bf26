// The naive callback-gateway: a result becomes a message.
import fastify from 'fastify';
import { connectEmitter } from './nest-kafka.ts';
import { type Input, required, topics } from './parts.ts';

interface ToolResult {
  readonly type: string;
  readonly group_id: string;
  readonly id: string;
  readonly text: string;
}

const bus = await connectEmitter('naive-callback');
const app = fastify({ keepAliveTimeout: 60_000 });
app.post<{ Body: ToolResult }>('/callback', async ({ body }, reply) => {
  const input: Input = { thread: body.group_id, kind: 'result', text: body.text, call: body.id };
  await bus.emit(topics.inputs, body.group_id, input);
  return reply.code(200).send();
});
await app.listen({ host: '127.0.0.1', port: Number(required('port')) });
process.stdout.write('ready\n');
