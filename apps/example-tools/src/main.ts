// Starts the example tool server. Options: --port, --host, --public-url, --data, --bearer, --hmac, --webhook-secret.
// The check comes before any import of the project: an old Node cannot load what is below.
import { parseArgs } from 'node:util';

if (Number(process.versions.node.split('.')[0]) < 24) {
  process.stderr.write(`example-tools: needs Node 24 or newer, this is ${process.versions.node}\n`);
  process.exit(1);
}
const { startExampleTools } = await import('./example-tools.ts');

const text = { type: 'string' } as const;
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '7430' },
    host: { type: 'string', default: '127.0.0.1' },
    'public-url': text,
    data: text,
    bearer: text,
    hmac: text,
    'webhook-secret': text,
  },
});

const starting = startExampleTools({
  port: Number(values.port),
  host: values.host,
  publicUrl: values['public-url'],
  dataDir: values.data,
  bearer: values.bearer,
  hmac: values.hmac,
  webhookSecret: values['webhook-secret'],
  log: (line) => console.error(`${new Date().toISOString()} ${line}`),
});
const server = await starting.catch((error: unknown) => {
  console.error(`example-tools: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
});
console.log(`ready ${server.url}`);
if (values['webhook-secret'] === undefined)
  console.error(`the repository webhook is signed with ${server.webhookSecret}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.close());
