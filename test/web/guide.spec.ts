// The examples of docs/guides/web-app.md, as they stand there: a backend, a page of another origin, a proxy.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanUp, type Standalone, startStandalone } from '../e2e/standalone-process.ts';

const run = promisify(execFile);
const origin = 'https://app.example.com';
const withinMs = 60_000;
let at: Standalone;
let thread: string;
let token: string;

beforeAll(async () => {
  at = await startStandalone({ env: { DORMOUSE_ALLOWED_ORIGINS: origin } });
});
afterAll(cleanUp);

async function example(name: string): Promise<string> {
  const guide = await readFile(new URL('../../docs/guides/web-app.md', import.meta.url), 'utf8');
  const code = new RegExp(`<!-- example:${name} -->\\s*\`\`\`\\w+\\n([^]*?)\`\`\``).exec(guide)?.[1];
  if (code === undefined) throw new Error(`the guide has no example ${name}`);
  return code;
}

/** Runs a program in a Node of its own; its globals are those of a page. */
async function program(...lines: readonly string[]): Promise<string> {
  const flags = ['--experimental-eventsource', '--no-warnings', '--input-type=module', '-e', lines.join('\n')];
  return (await run(process.execPath, flags, { timeout: withinMs })).stdout;
}

const constants = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([name, value]) => `const ${name} = ${JSON.stringify(value)};`)
    .join('\n');

describe('the guide for web apps', () => {
  it('opens a thread by its external id, and makes a token', async () => {
    const env = { ...process.env, API: at.url, KEY: at.key };
    const script = `set -e\n${await example('backend')}\nprintf '%s %s' "$THREAD" "$TOKEN"`;
    const backend = async (): Promise<string[]> =>
      (await run('bash', ['-c', script], { env, timeout: withinMs })).stdout.split(' ');
    [thread = '', token = ''] = await backend();
    expect([thread, token]).toEqual([expect.stringMatching(/^thr_/), expect.stringMatching(/^dtt_/)]);
    expect((await backend())[0]).toBe(thread);
    expect((await at.request('GET', `/v1/threads/${thread}`)).json.external_id).toBe('order-4711');
  });

  it('follows the thread in a page, and answers its approval', async () => {
    const page = [
      constants({ API: at.url, THREAD: thread, TOKEN: token }),
      'const asked = [];',
      'const confirm = (text) => asked.push(text) > 0;',
      'const show = (text) => { console.log(JSON.stringify({ asked, text })); process.exit(0); };',
    ];
    const shown = JSON.parse(await program(...page, await example('page'))) as { asked: string[]; text: string };
    expect(shown.asked).toEqual(['Allow delete_everything of example-tools? {}']);
    expect(shown.text).toContain('Everything would be gone now');
    const choices = (await at.request('GET', `/v1/choices?status=settled&thread=${thread}`)).json.data;
    expect(choices).toMatchObject([{ decision: 'allow', by: 'ann' }]);
  });

  it('may be done by a page of the listed origin, and of no other', async () => {
    const stream = `/v1/threads/${thread}/events?access_token=${token}`;
    const answers = await Promise.all(
      [origin, 'https://evil.example'].map(async (from) => {
        const abort = new AbortController();
        const { status, headers } = await fetch(at.url + stream, {
          headers: { origin: from, accept: 'text/event-stream' },
          signal: abort.signal,
        });
        abort.abort();
        return [status, headers.get('access-control-allow-origin'), headers.get('vary')];
      }),
    );
    expect(answers).toEqual([
      [200, origin, 'Origin'],
      [403, null, 'Origin'],
    ]);
  });

  it('passes the stream on with a backend in between', async () => {
    const lines = [
      constants({ API: at.url, KEY: at.key, THREAD: thread }),
      'const threadOf = async () => THREAD;',
      (await example('proxy')).replace('export ', ''),
      "const answer = await follow(new Request('http://backend/', { headers: { 'last-event-id': '2' } }));",
      'const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();',
      "let text = ''; while (!/^id: /m.test(text)) text += (await reader.read()).value;",
      'console.log(/^id: (.*)$/m.exec(text)[1]); process.exit(0);',
    ];
    expect((await program(...lines)).trim()).toBe('3');
  });
});
