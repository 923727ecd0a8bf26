// A thread of any length, imported: real commits of the example agent, whose last turn is repeated under new ids.
import { chainHash, openCommit, sealCommit } from '@dormouse/runtime';
import type { Commit } from '@dormouse/ports';
import type { System } from '../e2e/conversation.ts';
import { expect } from 'vitest';
import { talked } from './conversations.ts';

const commitsPerPart = 500;

/** The id of a closed thread of at least so many events, and its length. */
export async function importLongThread(
  runtime: System,
  events: number,
): Promise<{ readonly thread: string; readonly length: number }> {
  const real = await talked(runtime, 'What is the weather in Oslo?', 'What is the weather in Rome?');
  const { json } = await runtime.request('GET', `/v1/threads/${real}/commits?limit=200`);
  const commits = longer(json.data, events);
  const of = commits.at(-1)?.hash;
  let answer: { readonly thread: string; readonly position: number } = { thread: '', position: 0 };
  for (let at = 0; at < commits.length; at += commitsPerPart) {
    const part = commits.slice(at, at + commitsPerPart);
    const sent = await runtime.request('POST', '/v1/imports', {
      of,
      commits: part,
      last: at + commitsPerPart >= commits.length,
    });
    expect(sent.status, sent.text).toBe(200);
    answer = sent.json;
  }
  return { thread: answer.thread, length: answer.position };
}

function longer(real: readonly Commit[], events: number): readonly Commit[] {
  const second = real.findIndex(({ body }) => body.includes('in Rome?'));
  const turn = real.slice(second);
  const chain = real.slice(0, second);
  let version = chain.reduce((sum, { count }) => sum + count, 0);
  let prev = chain.at(-1)?.hash ?? '';
  for (let repeat = 1; version < events; repeat += 1) {
    const bodies = turn.map((commit) => openCommit({ ...commit, body: renamed(commit.body, repeat) }));
    const last = turn.at(-1) ?? real[0];
    if (last === undefined) throw new Error('the real thread has no commit');
    const { tenant, thread, at, nonce } = last;
    const sealed = sealCommit({
      ...{ key: { tenant, thread }, version, at: at + repeat * 1_000, nonce, trace: null, prev },
      inputs: [`again:${repeat}`],
      events: bodies.flatMap((body) => body.events),
      effects: [],
    });
    expect(sealed.hash).toBe(chainHash(sealed));
    chain.push(sealed);
    version += sealed.count;
    prev = sealed.hash;
  }
  return chain;
}

/** Every id of the turn gets the number of the repetition. */
const renamed = (body: string, repeat: number): string =>
  body
    .replaceAll(/\b((?:msg|cmp|call|chc|tmr|prv)_[0-9A-Z]+)/gi, `$1R${repeat}`)
    .replaceAll('Rome?', `Rome? (${repeat})`);
