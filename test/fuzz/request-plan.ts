// What is to be sent, as data: a valid request with names in place of ids, and the mutations that are applied to it.
// The same plan gives the same bytes wherever the names lead.
import { mulberry32 } from '../chaos/random.ts';
import { type JsonTree, textOf } from './json-tree.ts';
import { byteMutations, textMutations, treeMutations } from './mutate-json.ts';
import { bytesOf, headMutations, type HttpDraft } from './mutate-head.ts';

export type Mutation =
  | { readonly of: 'tree'; readonly name: keyof typeof treeMutations; readonly seed: number }
  | { readonly of: 'text'; readonly name: keyof typeof textMutations; readonly seed: number }
  | { readonly of: 'bytes'; readonly name: keyof typeof byteMutations; readonly seed: number }
  | { readonly of: 'head'; readonly name: keyof typeof headMutations; readonly seed: number };

export interface RequestPlan {
  readonly door: Door;
  /** The operation of the API, or the type of the callback. */
  readonly name: string;
  readonly method: string;
  /** With names in double braces. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Null for none. */
  readonly body: JsonTree | null;
  /** True when it asks for something of another tenant, or that its credential does not open: no 2xx is right. */
  readonly isForeign: boolean;
  readonly mutations: readonly Mutation[];
}

export type Door = 'api' | 'callback';

/** What a name stands for. @throws Error for an unknown one. */
export type NameReader = (name: string) => string;

export interface EncodedRequest {
  readonly plan: RequestPlan;
  readonly method: string;
  readonly bytes: Buffer;
  /** True when a receiver knows where it ends. (mutate-head F1) */
  readonly isFramed: boolean;
  /** False when its target was changed: then it asks for something else. */
  readonly isForeign: boolean;
  /** True when it asks the server to wait before it answers. */
  readonly mayWait: boolean;
}

const nameIn = /\{\{([a-z][\w.-]*)\}\}/g;

export const named = (text: string, names: NameReader): string =>
  text.replaceAll(nameIn, (_, name: string) => names(name));

export function encode(plan: RequestPlan, names: NameReader): EncodedRequest {
  const { door, headers, method, mutations } = plan;
  const body = bodyBytes(plan, names);
  const written = [
    ['host', `{{host.${door}}}`] as const,
    ...headers,
    ...(plan.body === null ? [] : [['content-type', 'application/json'] as const]),
  ];
  let draft: HttpDraft = {
    method,
    target: named(plan.target, names),
    version: 'HTTP/1.1',
    headers: written.map(([name, value]) => [name, named(value, names)] as const),
    body,
    chunks: 'none',
    length: plan.body === null ? 'none' : 'body',
    rawLines: [],
    isFramed: true,
  };
  const target = draft.target;
  for (const mutation of mutations)
    if (mutation.of === 'head') draft = headMutations[mutation.name](draft, mulberry32(mutation.seed));
  draft = { ...draft, headers: draft.headers.map(([name, value]) => [name, named(value, names)] as const) };
  const isUnread = draft.body.length > 0 && draft.chunks === 'none' && draft.length === 'none';
  return {
    plan,
    method: draft.method,
    bytes: bytesOf(draft),
    isFramed: draft.isFramed && !isUnread,
    isForeign: plan.isForeign && draft.target === target && draft.method === method,
    mayWait: draft.headers.some(([name]) => name === 'prefer'),
  };
}

function bodyBytes({ body, mutations }: RequestPlan, names: NameReader): Buffer {
  if (body === null) return Buffer.alloc(0);
  let tree = body;
  for (const mutation of mutations)
    if (mutation.of === 'tree') tree = treeMutations[mutation.name](tree, mulberry32(mutation.seed));
  let text = named(textOf(tree), names);
  for (const mutation of mutations)
    if (mutation.of === 'text') text = textMutations[mutation.name](text, mulberry32(mutation.seed));
  let bytes: Buffer = Buffer.from(text);
  for (const mutation of mutations)
    if (mutation.of === 'bytes') bytes = byteMutations[mutation.name](bytes, mulberry32(mutation.seed));
  return bytes;
}
