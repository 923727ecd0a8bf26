// One conversation with a running installation, as a check after an install: an agent with the demo model, a thread, a
// message, an answer; then the thread is closed. Exit code 0 when the answer came.
//
//   conversation --url http://dormouse-ingress-gateway:7420 [--host agents.example.com] [--key-file FILE] [--patience SECONDS]
//
// The key is in the file, or in DORMOUSE_KEY. `--host` is for the Host header: an address inside a cluster is not the
// public one. A connection that is refused is tried again for a minute, or as long as said; an answer is not.
import { readFileSync } from 'node:fs';
import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const agent = 'installation-check';
const answerWithinMs = 60_000;
const text = /** @type {const} */ ({ type: 'string' });
const { values } = parseArgs({
  options: { url: text, host: text, 'key-file': text, patience: { ...text, default: '60' } },
});
const connectWithinMs = Number(values.patience) * 1_000;
if (values.url === undefined) fail('--url is missing: the address of the ingress gateway');
const key =
  values['key-file'] === undefined ? process.env['DORMOUSE_KEY'] : readFileSync(values['key-file'], 'utf8').trim();
if (!key) fail('there is no key: give --key-file, or DORMOUSE_KEY');

const began = performance.now();
await call('POST', '/v1/agents', { name: agent, instructions: 'Answer briefly.', model: { provider: 'demo' } });
const thread = await call('POST', '/v1/threads', { agent });
const said = await call(
  'POST',
  `/v1/threads/${thread.id}/messages`,
  { text: 'Is anything there?' },
  { prefer: 'wait=30' },
);
const answer = said.message?.text;
if (said.status !== 'idle' || typeof answer !== 'string' || answer === '')
  fail(`the thread ${thread.id} has no answer after 30 s: ${JSON.stringify(said)}`);
await call('POST', `/v1/threads/${thread.id}/close`);
console.log(`the agent answered after ${Math.round(performance.now() - began)} ms: ${answer}`);

/** The body of a 2xx; everything else ends this process. */
async function call(method, path, body, headers = {}) {
  const { status, body: received } = await patiently(() => send(method, path, body, headers));
  if (status < 200 || status > 299) fail(`${method} ${path} was answered with ${status}: ${received}`);
  return received === '' ? {} : JSON.parse(received);
}

async function patiently(attempt) {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const isAway = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ECONNRESET'].includes(error.code);
      if (!isAway || performance.now() - began > connectWithinMs)
        fail(`${values.url} cannot be reached: ${error.message}`);
    }
    await sleep(500);
  }
}

/** Not `fetch`, which sends a Host header of its own. */
function send(method, path, body, headers) {
  const url = new URL(path, values.url);
  const sentBody = body === undefined ? null : JSON.stringify(body);
  const request = url.protocol === 'https:' ? secureRequest : plainRequest;
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method,
        signal: AbortSignal.timeout(answerWithinMs),
        headers: {
          authorization: `Bearer ${key}`,
          ...(sentBody === null
            ? { 'content-length': 0 }
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sentBody) }),
          ...(values.host === undefined ? {} : { host: values.host }),
          ...headers,
        },
      },
      (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('end', () => resolve({ status: response.statusCode, body: Buffer.concat(chunks).toString() }));
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(sentBody ?? undefined);
  });
}

function fail(reason) {
  console.error(`conversation: ${reason}`);
  process.exit(1);
}
