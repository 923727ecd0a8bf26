// The same turn on Restate, as its documentation writes an agent: a virtual object per conversation, its history in the
// object's state, every completion and the tool's invocation journaled by `ctx.run`, the tool's answer an awakeable
// that the tool resolves over Restate's HTTP ingress.
//
//   node restate-service.mjs --tools URL --port N --ingress URL [--lean]
//
// --lean keeps no history and does not journal completions: weaker than the guarantees of the others, to show their
// cost.
import { parseArgs } from 'node:util';
import * as restate from '@restatedev/restate-sdk';
import { Pool } from 'undici';
import { complete } from './scripted-model.mjs';

const { values: options } = parseArgs({
  options: {
    tools: { type: 'string' },
    port: { type: 'string' },
    ingress: { type: 'string' },
    lean: { type: 'boolean', default: false },
  },
});
const manifest = await (await fetch(`${options.tools}/.well-known/rap-toolset`)).json();
const headers = { 'content-type': 'application/json' };
const endpoint = new URL(manifest.endpoint);
const pool = new Pool(endpoint.origin, { connections: 128 });

async function invoke(invocation) {
  const answer = await pool.request({
    method: 'POST',
    path: endpoint.pathname,
    headers,
    body: JSON.stringify(invocation),
  });
  await answer.body.dump();
  if (answer.statusCode >= 300) throw new Error(`the tool server answered ${answer.statusCode}`);
}

async function message(ctx, { text }) {
  const history = options.lean ? [] : ((await ctx.get('history')) ?? []);
  history.push({ role: 'user', text });
  for (;;) {
    const next = options.lean ? complete(history) : await ctx.run('completion', () => complete(history));
    history.push(next);
    if (!next.toolCall) break;
    const { id, promise } = ctx.awakeable();
    await ctx.run('invoke', () =>
      invoke({
        operation: next.toolCall.name,
        arguments: next.toolCall.arguments,
        id,
        callback_url: `${options.ingress}/restate/awakeables/${id}/resolve`,
        group_id: ctx.key,
      }),
    );
    history.push({ role: 'tool', id, text: (await promise).text });
  }
  if (!options.lean) ctx.set('history', history);
  return { text: history[history.length - 1].text };
}

const thread = restate.object({ name: 'thread', handlers: { message } });
await restate.serve({ services: [thread], port: Number(options.port) });
process.stdout.write('ready\n');
