// The naive tool-dispatcher: one POST per message, and a failed one is lost.
import { Pool } from 'undici';
import { serveTopic } from './nest-kafka.ts';
import { type Dispatch, required, topics } from './parts.ts';

const manifest = (await (await fetch(`${required('tools')}/.well-known/rap-toolset`)).json()) as { endpoint: string };
const endpoint = new URL(manifest.endpoint);
const pool = new Pool(endpoint.origin, { connections: 128 });
const callbackUrl = required('callback');

await serveTopic<Dispatch>('naive-dispatcher', topics.dispatches, async (dispatch) => {
  const { thread, call, operation, arguments: given } = dispatch;
  const body = JSON.stringify({ operation, arguments: given, id: call, callback_url: callbackUrl, group_id: thread });
  const headers = { 'content-type': 'application/json' };
  const answer = await pool.request({ method: 'POST', path: endpoint.pathname, headers, body });
  await answer.body.dump();
});
process.stdout.write('ready\n');
