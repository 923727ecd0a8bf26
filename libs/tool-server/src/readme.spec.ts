import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { later, runtimeOf, temporaryFolder } from './spec/bench.ts';
import { eventually, startSink } from './spec/callback-sink.ts';

const library = fileURLToPath(new URL('..', import.meta.url));

it('the example of the README works as it stands', async () => {
  const readme = await readFile(`${library}/README.md`, 'utf8');
  const example = /```ts\n([^]*?)```/.exec(readme)?.[1] ?? '';
  const here = example.replace('7431', '0').replace("'.greeter'", JSON.stringify(await temporaryFolder()));
  const options = ['--conditions=dormouse-source', '--input-type=module-typescript', '--eval', here];
  const child = spawn(process.execPath, options, { cwd: library, stdio: ['ignore', 'pipe', 'ignore'] });
  later(async () => child.kill('SIGKILL'));
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  await eventually(() => printed.includes('ready'), 'the start');
  const sink = await startSink();
  later(sink.close);
  const { ask } = runtimeOf(/ready (\S+)/.exec(printed)?.[1] ?? '', sink);
  expect(await ask('greet', { name: 'Alice' })).toBe('Hello, Alice!');
});
