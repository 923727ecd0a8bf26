// The cases of a seed: case N of a seed is the same request, sent in the same manner, in every run.
import { allOperations, examples } from '@dormouse/host';
import { messageSchemas } from '@dormouse/protocol';
import { z } from 'zod';
import { mulberry32, pick } from '../chaos/random.ts';
import { treeOf } from './json-tree.ts';
import { headMutations } from './mutate-head.ts';
import { byteMutations, textMutations, treeMutations } from './mutate-json.ts';
import type { Mutation, RequestPlan } from './request-plan.ts';
import { type Schema, valueOf } from './schema-values.ts';

type Random = () => number;

/** How a case goes over its socket. */
export const manners = {
  whole: 8,
  /** Cut at any byte. */
  pieces: 2,
  /** With pauses between the pieces. */
  slow: 1,
  /** The sender has no more to say, and reads on. */
  half_closed: 1,
  /** Several requests in one write. */
  pipelined: 3,
  /** The sender is gone in the middle. */
  aborted: 1,
} as const;
export type Manner = keyof typeof manners;

export interface FuzzCase {
  readonly index: number;
  readonly manner: Manner;
  /** One, several where they are pipelined, none where only noise is sent. */
  readonly plans: readonly RequestPlan[];
  /** Of everything else that is chosen while it is sent. */
  readonly seed: number;
}

const pipelinedMax = 5;
const noiseShare = 0.03;

export function caseOf(seed: number, index: number): FuzzCase {
  const random = mulberry32(Math.imul(seed + 1, 0x9e_37_79_b1) ^ Math.imul(index + 1, 0x85_eb_ca_6b));
  const manner = weighted(manners, random);
  const count = random() < noiseShare ? 0 : manner === 'pipelined' ? 2 + Math.floor(random() * (pipelinedMax - 1)) : 1;
  const door = random() < 0.45 ? callbackPlan : apiPlan;
  const plans = Array.from({ length: count }, () => door(random));
  return { index, manner, plans, seed: Math.floor(random() * 2 ** 31) };
}

function weighted<Name extends string>(weights: Readonly<Record<Name, number>>, random: Random): Name {
  const names = Object.keys(weights) as Name[];
  return pick(
    names.flatMap((name) => Array.from({ length: weights[name] }, () => name)),
    random,
  );
}

const mutationsMax = 2;
const untouchedShare = 0.2;

function mutations(random: Random, hasBody: boolean): readonly Mutation[] {
  if (random() < untouchedShare) return [];
  return Array.from({ length: 1 + Math.floor(random() * mutationsMax) }, () => mutation(random, hasBody));
}

function mutation(random: Random, hasBody: boolean): Mutation {
  const seed = Math.floor(random() * 2 ** 31);
  const kind = hasBody ? random() : 1;
  if (kind < 0.55) return { of: 'tree', name: anyOf(treeMutations, random), seed };
  if (kind < 0.65) return { of: 'text', name: anyOf(textMutations, random), seed };
  if (kind < 0.72) return { of: 'bytes', name: anyOf(byteMutations, random), seed };
  return { of: 'head', name: anyOf(headMutations, random), seed };
}

const anyOf = <Table extends object>(table: Table, random: Random): keyof Table =>
  pick(Object.keys(table) as (keyof Table)[], random);

// ── Callbacks

const about = { group_id: '{{thread.own}}', id: '{{call.own}}' };

/** One of each type that is right, for the call that is open. */
const callbacks: Readonly<Record<string, object>> = {
  'tool-result': { type: 'tool_result', ...about, text: 'fuzz' },
  'subscription-event': {
    ...{ type: 'subscription_event', group_id: about.group_id, tool_call_id: about.id, text: 'fuzz' },
    ...{ associative: true, event_id: 'e1' },
  },
  'user-choice': {
    ...{ type: 'user_choice', ...about, prompt: 'Which?', choices: ['a', 'b'], default: 0 },
    response_url: 'http://127.0.0.1:1/answer',
  },
  oauth: { type: 'oauth', ...about, auth_url: 'https://login.example/authorize?x=1' },
  'view-update': { type: 'view_update', group_id: about.group_id, view_type: 'board', content: { a: [1, 'x', null] } },
};

const callbackSchemas: Readonly<Record<string, unknown>> = messageSchemas();

/** Most are for the call that is open; the others are tokens that are good for nothing any more, or never were. */
const callbackTargets = [
  ...Array.from({ length: 14 }, () => '/callback/{{callback.own}}'),
  ...['/callback/{{callback.settled}}', '/callback/{{callback.tampered}}', '/callback/{{token.thread}}', '/callback/'],
  ...[`/callback/${'a'.repeat(5_000)}`, '/callback/..%2f..%2fv1%2fthreads', '/callback/{{callback.own}}/x'],
] as const;

function callbackPlan(random: Random): RequestPlan {
  const name = pick(Object.keys(callbacks), random);
  const value = random() < 0.7 ? callbacks[name] : { ...callbackOf(name, random), ...aboutOf(name, random) };
  return {
    door: 'callback',
    ...{ name, method: 'POST', isForeign: false },
    target: pick(callbackTargets, random),
    headers: random() < 0.2 ? [['webhook-id', 'fuzz-one']] : [],
    body: treeOf(value),
    mutations: mutations(random, true),
  };
}

const callbackOf = (name: string, random: Random): object => valueOf(callbackSchemas[name], random) as object;

/** The ids that a sender repeats; at times those of others. */
function aboutOf(name: string, random: Random): object {
  const owner = pick(['own', 'own', 'own', 'same', 'other'], random);
  const [group_id, id] = [`{{thread.${owner}}}`, `{{call.${random() < 0.8 ? owner : 'own'}}}`];
  if (name === 'view-update') return { group_id };
  return name === 'subscription-event' ? { group_id, tool_call_id: id } : { group_id, id };
}

// ── The client API

/** What acts by a filter on all threads of its tenant: the one that must not change is rightly among them. */
const ofManyThreads = /^\/v1\/threads:/;

const operations = allOperations.filter(({ path }) => !ofManyThreads.test(path));

/** What a thread token can be good for at all. */
const operationsOfTokens = operations.filter(({ access }) => typeof access === 'object' && access.ability !== null);

/** Whose key it is; `token` opens the attacked thread alone. */
const credentials = {
  admin: 'Bearer {{key}}',
  token: 'Bearer {{token.thread}}',
  none: null,
  wrong: 'Bearer dm_wrong_wrongwrongwrongwrongwrongwrong',
  callback: 'Bearer {{callback.own}}',
} as const;
type Credential = keyof typeof credentials;
const credentialWeights: Readonly<Record<Credential, number>> = { admin: 14, token: 4, none: 1, wrong: 1, callback: 1 };

/** Bodies that fit what is there, where the example of the reference names something else. */
const fittingBodies: Readonly<Record<string, unknown>> = {
  openThread: { agent: '{{agent}}', external_id: 'fuzz', if_exists: 'return' },
  createToolServer: { name: 'fuzz-more', base_url: '{{tools.url}}' },
  patchToolServer: { forward_user_id: true },
  createSource: {
    name: 'fuzz-hooks',
    kind: 'github',
    secret: '{{secret}}',
    agent: '{{agent}}',
    key: '/id',
    message: 'x',
  },
  createSchedule: { name: 'fuzz-daily', cron: '0 9 * * *', message: 'x', external_id: 'daily', agent: '{{agent}}' },
  createWebhook: { url: 'https://127.0.0.1:1/hooks', events: ['thread.idle'] },
  forkThread: { position: 1 },
};

const bodySchemas = new Map<string, Schema>();

function bodyOf({ id, body }: (typeof operations)[number], random: Random): unknown {
  if (body === undefined) return random() < 0.8 ? undefined : {};
  const known = fittingBodies[id] ?? examples[id]?.body;
  if (known !== undefined && random() < 0.6) return known;
  let schema = bodySchemas.get(id);
  if (schema === undefined) {
    schema = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }) as Schema;
    bodySchemas.set(id, schema);
  }
  return valueOf(schema, random);
}

/** What stands for a parameter, by the segment before it: what the attacker has. */
const own: Readonly<Record<string, string>> = {
  ...{ agents: 'agent', versions: 'one', secrets: 'secret', 'tool-servers': 'tools', parked: 'thread.own' },
  ...{ 'tool-calls': 'call.own', subscriptions: 'call.own', choices: 'choice', schedules: 'schedule', blobs: 'blob' },
  ...{ tokens: 'token.id', 'api-keys': 'key.spare', webhooks: 'webhook', users: 'user', credentials: 'tools' },
  ...{ sources: 'source', 'ai-sdk': 'agent', 'ag-ui': 'agent', '{agent}': 'external', tenants: 'tenant.other' },
};
const ownThreads = ['thread.own', 'thread.own', 'thread.asking', 'thread.quiet', 'thread.closed'] as const;
const hostileSegments = [
  'none',
  '%00',
  '..',
  '%2e%2e',
  'x'.repeat(300),
  '%F0%9F%92%A3',
  '__proto__',
  "'",
  '{}',
  '-1',
] as const;

interface Place {
  readonly target: string;
  readonly isForeign: boolean;
}

/**
 * The path of an operation with ids in it. A thread that is not the caller's is never named with the tenant's own
 * key.
 */
function placeOf(path: string, credential: Credential, random: Random): Place {
  const segments = path.split('/');
  let isForeign = false;
  const target = segments.map((segment, index) => {
    if (!segment.startsWith('{')) return segment;
    const before = segments[index - 1] ?? '';
    const chance = random();
    if (chance < 0.06) return pick(hostileSegments, random);
    if (before !== 'threads') return `{{${own[before] ?? 'none'}}}`;
    if (chance < 0.12) return '{{thread.unknown}}';
    if (chance < (credential === 'admin' ? 0.85 : 0.5)) return `{{${pick(ownThreads, random)}}}`;
    isForeign = true;
    return credential === 'admin' || chance < 0.65 ? '{{thread.other}}' : '{{thread.same}}';
  });
  return { target: target.join('/'), isForeign };
}

const hookShare = 0.04;

/** A delivery to a source, with a signature that is none: what is behind it takes a secret. */
const hookPlan = (random: Random): RequestPlan => ({
  door: 'api',
  ...{
    name: 'hook',
    method: 'POST',
    target: pick(['{{source.path}}', '/hooks/{{source}}/x'], random),
    isForeign: false,
  },
  headers: [
    ['x-github-delivery', 'fuzz-one'],
    ['x-hub-signature-256', `sha256=${'0'.repeat(64)}`],
  ],
  body: treeOf({ id: 1, action: 'opened' }),
  mutations: mutations(random, true),
});

function apiPlan(random: Random): RequestPlan {
  if (random() < hookShare) return hookPlan(random);
  const credential = weighted(credentialWeights, random);
  const operation = pick(credential === 'token' ? operationsOfTokens : operations, random);
  const { target, isForeign } = placeOf(operation.path, credential, random);
  const body = bodyOf(operation, random);
  const bearer = credentials[credential];
  return {
    door: 'api',
    ...{ name: operation.id, method: operation.method, target },
    isForeign: isForeign && operation.access !== 'open',
    headers: [
      ...(bearer === null ? [] : [['authorization', bearer] as const]),
      ...(random() < 0.1 ? [['accept', 'text/event-stream'] as const] : []),
    ],
    body: body === undefined ? null : treeOf(body),
    mutations: mutations(random, body !== undefined),
  };
}
