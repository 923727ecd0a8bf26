import type { Commit, ThreadKey } from '@dormouse/ports';
import { defaultLimits, defaultPolicies, type ThreadEvent } from '@dormouse/thread';
import { expect, it } from 'vitest';
import { chainHash, sealCommit } from '../envelope.ts';
import { spoken, stage, type Stage } from './spec/stage.ts';

const opened: ThreadEvent = {
  type: 'ThreadOpened',
  agent: { name: 'helper', version: 1 },
  model: 'demo',
  toolServers: [],
  policies: defaultPolicies,
  limits: defaultLimits,
  userId: null,
  title: null,
};
const elsewhere: ThreadKey = { tenant: 'elsewhere', thread: 'thr_there' };

/** What another installation exported: one commit per event. */
function exported(events: readonly ThreadEvent[]): Commit[] {
  const commits: Commit[] = [];
  for (const [version, event] of events.entries()) {
    const recorded = { ...event, turnId: 'turn', cause: { kind: 'request', id: 'req_1' } } as const;
    const effects = [{ do: 'SetTimer', id: `tmr_${version}`, timerId: `tmr_${version}`, due: 1 }] as const;
    const rest = { inputs: [`c:${version}`], at: 1_000 + version, nonce: `n${version}`, trace: null };
    const prev = commits.at(-1)?.hash ?? '';
    commits.push(sealCommit({ key: elsewhere, version, ...rest, prev, events: [recorded], effects }));
  }
  return commits;
}

async function installation(): Promise<Stage> {
  const at = stage();
  await at.ingress.agents.create('acme', 'helper', {
    instructions: '',
    model: {
      provider: 'demo',
      name: '',
      baseUrl: null,
      apiKeySecret: null,
      parameters: {},
      contextWindowTokens: 1_000,
      outputTokensMax: null,
      images: false,
    },
    toolServers: [],
    policies: defaultPolicies,
    limits: defaultLimits,
  });
  return at;
}

const commits = exported([opened, spoken('a'), spoken('b'), spoken('c')]);
const of = commits[0]?.hash ?? '';
const take = (at: Stage, part: readonly Commit[], name = of) =>
  at.ingress.imports.take('acme', { of: name, commits: part, last: false });
const detailOf = (answer: Awaited<ReturnType<typeof take>>): string =>
  answer.ok ? 'taken' : (answer.refusal.errors?.[0]?.detail ?? '');

it('M1 parts follow each other; one that was sent before changes nothing', async () => {
  const at = await installation();
  const first = await take(at, commits.slice(0, 2));
  await take(at, commits.slice(0, 3));
  const last = await take(at, commits.slice(2));
  expect(last).toEqual(await take(at, commits.slice(2)));
  expect([first, last]).toMatchObject([{ value: { position: 2 } }, { value: { position: 4 } }]);
  const { thread } = last.ok ? last.value : { thread: '' };
  const stored = await at.ports.log.read({ tenant: 'acme', thread }, 0);
  expect(stored.map(({ version, at: time, inputs }) => [version, time, inputs])).toEqual(
    commits.map(({ version, at: time, inputs }) => [version, time, inputs]),
  );
  for (const [place, commit] of stored.entries()) {
    expect(commit.hash).toBe(chainHash(commit));
    expect(commit.prev).toBe(stored[place - 1]?.hash ?? '');
    expect(commit.body).toContain('"effects":[]'); // (M2)
  }
});

it('M2 M4 what is altered, missing, out of order or not here is refused, and nothing of it is stored', async () => {
  const at = await installation();
  const [first, second, third] = commits;
  if (first === undefined || second === undefined || third === undefined) throw new Error('there are four');
  const altered = { ...second, body: second.body.replace('"a"', '"x"') };
  expect(detailOf(await take(at, [first, altered]))).toBe('does not have the hash that it says');
  expect(detailOf(await take(at, [first, third]))).toBe('does not follow the commit before');
  expect(detailOf(await take(at, [second]))).toBe('does not follow what is here, which ends at 0');
  expect(detailOf(await take(at, [first], 'f'.repeat(64)))).toBe('is not the first commit of this file');
  const [unknown] = exported([{ ...opened, agent: { name: 'helper', version: 9 } }]);
  if (unknown === undefined) throw new Error('there is one');
  expect(detailOf(await take(at, [unknown], unknown.hash))).toContain('needs the agent helper, version 9');
  const image = { type: 'image', mediaType: 'image/png', blob: 'e'.repeat(64) } as const;
  const picture = exported([opened, { type: 'MessageAccepted', messageId: 'msg_1', content: [image] }]);
  expect(detailOf(await take(at, picture))).toContain('needs the blob');
  expect((await at.ports.directory.list('acme', {}, { limit: 10, cursor: null })).data).toEqual([]);
});
