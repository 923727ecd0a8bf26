/**
 * Owns: the request that asks a tool server to run a tool.
 * Not here: checking arguments against the tool's schema, signing, sending.
 *
 * 1. Outbound is strict: a field unknown to RAP, or a value over its limit, is never sent.
 * 2. Equal invocations encode to equal JSON text, whatever the order in which their fields were set, so that a
 *    repeated POST has the same bytes.
 * 3. `arguments` are passed on by identity; nothing in them is renamed.
 */
import { isJsonObject } from '@dormouse/json';
import { z } from 'zod';
import { idCharactersMax, threadAncestorsMax } from './limits.ts';
import { createCodec, type InCode } from './codec.ts';
import { foreignIdField, idField, opaqueObjectField, urlField, withoutNulls } from './field.ts';
import { describeIssue, type Refusal, refusalOf } from './problem.ts';
import { toolNameField } from './tool-name.ts';

const codec = createCodec(['arguments']);

const shape = {
  operation: toolNameField,
  arguments: opaqueObjectField,
  id: idField,
  call_id: idField.optional(),
  callback_url: urlField,
  group_id: idField,
  // RAP invocation: root to parent, omitted for a root thread. R12
  thread_ancestors: z.array(idField).min(1).max(threadAncestorsMax).optional(),
  user_id: idField.optional(),
  toolset_version: z.string().min(1).max(idCharactersMax).optional(), // RAP lifecycle (seed): 409 if stale. R107
};

/** The strict wire form that a runtime sends; its key order is the order on the wire. (2) */
export const toolInvocationSchema = z.strictObject(shape);
/** The loose wire form for a tool server: any extra field, any non-empty operation, opaque ids and callback URL. */
const inboundSchema = z.object({
  ...shape,
  operation: z.string().min(1),
  id: foreignIdField,
  call_id: z.string().optional(), // RAP invocation, Fields: echoed when given, so an empty one too. T13
  callback_url: z.string().min(1), // RAP transport, Callback URL: opaque to tools. T17
  group_id: foreignIdField,
  thread_ancestors: z.array(z.string()).optional(),
  user_id: z.string().optional(),
  toolset_version: z.string().optional(),
});

type WireToolInvocation = z.infer<typeof toolInvocationSchema>;
/**
 * One call of a tool: `{operation, arguments, id, callId?, callbackUrl, groupId, threadAncestors?, userId?,
 * toolsetVersion?}`. RAP invocation, Fields.
 */
export type ToolInvocation = InCode<WireToolInvocation, 'arguments'>;

/** The JSON body of `invocation`. @throws z.ZodError if it breaks (1): a bug of the runtime, not of the peer. */
export function encodeInvocation(invocation: ToolInvocation): WireToolInvocation {
  return toolInvocationSchema.parse(codec.toWire(invocation));
}

/** Parses an invocation as a tool server receives it; `null` means absent, unknown fields are ignored. T9 */
export function parseInvocation(json: unknown): { readonly ok: true; readonly invocation: ToolInvocation } | Refusal {
  const parsed = inboundSchema.safeParse(isJsonObject(json) ? withoutNulls(json) : json, { error: describeIssue });
  return parsed.success ? { ok: true, invocation: codec.toCode(parsed.data) } : refusalOf(parsed.error);
}
