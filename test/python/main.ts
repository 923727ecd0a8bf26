// The long tier: the example tool server in Python, called by an agent of a standalone runtime.
//
//   node --conditions=dormouse-source test/python/main.ts      ends with 77 where there is no Python 3.9
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { messageSchemas } from '@dormouse/protocol';
import { cleanUp, type Standalone, startStandalone } from '../e2e/standalone-process.ts';

const cannot = 77;
const script = fileURLToPath(new URL('../../apps/example-tools/python/tool_server.py', import.meta.url));
const python = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']);
if (python.status !== 0) {
  console.log('there is no python3 of version 3.9 or newer on this machine');
  process.exit(cannot);
}

const tools = spawn('python3', [script], { stdio: ['ignore', 'pipe', 'inherit'] });
try {
  await converse(await readyLine(tools), await startStandalone());
  console.log('the tool server in Python was found, called, and answered, also where arguments are missing');
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  tools.kill();
  await cleanUp();
}

async function readyLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no output');
  for await (const line of createInterface({ input: child.stdout }))
    if (line.startsWith('ready ')) return line.slice('ready '.length);
  throw new Error('the tool server in Python ended');
}

async function converse(url: string, at: Standalone): Promise<void> {
  const manifest: unknown = await (await fetch(`${url}/.well-known/rap-toolset`)).json();
  const schema = messageSchemas()['manifest'] ?? false;
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
  if (!validate(manifest)) throw new Error(`its manifest does not fit the schema: ${JSON.stringify(validate.errors)}`);
  await made(at, '/v1/tool-servers', { name: 'python-tools', base_url: url });
  const calls = [{ text: 'one two three' }, { text: 5 }];
  const script = calls.map((given) => [{ tool_call: { name: 'count_words', arguments: given } }]);
  const model = { provider: 'scripted', parameters: { script: [...script, [{ text: 'done' }]] } };
  await made(at, '/v1/agents', { name: 'counter', model, tool_servers: ['python-tools'] });
  const thread = await made(at, '/v1/threads', { agent: 'counter', message: { text: 'go' } });
  const until = Date.now() + 60_000;
  for (;;) {
    const { json: body } = await at.request('GET', `/v1/threads/${thread}/events?limit=200`);
    const events = (body as { readonly data: readonly Settled[] }).data;
    const settled = events.filter(({ type }) => type === 'tool_call_settled');
    if (settled.length === calls.length) return expectTexts(settled);
    if (Date.now() > until) throw new Error(`no results in a minute: ${JSON.stringify(events.slice(-3))}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

interface Settled {
  readonly type: string;
  readonly outcome: string;
  readonly content: readonly { readonly text: string }[];
}

function expectTexts(settled: readonly Settled[]): void {
  const [counted, refused] = settled;
  if (counted?.outcome !== 'result' || counted.content[0]?.text !== '3 words')
    throw new Error(`it counted wrongly: ${JSON.stringify(counted)}`);
  if (refused?.outcome !== 'error') throw new Error(`wrong arguments were taken: ${JSON.stringify(refused)}`);
}

async function made(at: Standalone, path: string, content: object): Promise<string> {
  const { status, json: body } = await at.request('POST', path, content);
  if (status !== 201) throw new Error(`POST ${path} was answered ${status}: ${JSON.stringify(body)}`);
  return (body as { readonly id: string }).id;
}
