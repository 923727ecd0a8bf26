// Starts the example tool server: `node dist/main.js [--port 7430] [--host 127.0.0.1] [--public-url URL] [--bearer TOKEN]`.
import { parseArgs } from 'node:util';
import { startExampleTools } from './example-tools.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '7430' },
    host: { type: 'string', default: '127.0.0.1' },
    'public-url': { type: 'string' },
    bearer: { type: 'string' },
  },
});

const server = await startExampleTools({
  port: Number(values.port),
  host: values.host,
  ...(values['public-url'] === undefined ? {} : { publicUrl: values['public-url'] }),
  ...(values.bearer === undefined ? {} : { bearer: values.bearer }),
  log: (line) => console.error(`${new Date().toISOString()} ${line.replaceAll(/[\p{Cc}\p{Cf}]/gu, '?')}`),
});
console.log(`ready ${server.url}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.close());
