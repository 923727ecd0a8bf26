// The one request that a call is: built from the commit and the manifest it was decided on, the same bytes every time.
// RAP invocation. Not here: sending it.
//
// Invariants:
//   I1. Body and Idempotency-Key are functions of the commit, the stored manifest and the registration: a repeated POST
//       repeats them byte by byte. I-06
//   I2. The user's id leaves only where the registration says so. R105
//   I3. What was built before the call's commit was stored counts only while the registration that it was built from does, and
//       is kept until it is asked for: a repetition builds it anew. (I1)
import { encodeInvocation } from '@dormouse/protocol';
import type { Soon, ToolServer, WorkTopics } from '@dormouse/ports';
import type { InvokeTool } from '@dormouse/thread';
import type { CallbackTokens } from '../callback-gateway/callback-token.ts';
import type { Failure } from './dispatch-failure.ts';
import type { Manifest, Manifests } from './manifest.ts';
import { atAddress, type Registrations } from './registrations.ts';
import { traceHeaders } from './trace-headers.ts';

export type OwedCall = WorkTopics['dispatches'] & { readonly effect: InvokeTool };

export interface Invocation {
  readonly server: ToolServer;
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface InvocationDeps {
  readonly registrations: Registrations;
  readonly manifests: Manifests;
  readonly tokens: CallbackTokens;
}

const idCharactersMax = 200;

type Built = Invocation | Failure;

export interface Invocations {
  /** The request, or why there will never be one; at once when nothing must be read. @throws Fault when a store fails. */
  build(call: OwedCall): Soon<Built>;
  /** Builds it while the commit that owes the call is on its way to the store, if nothing must be read for it. (I3) */
  prepare(call: OwedCall): void;
}

interface Prepared {
  readonly registered: ToolServer;
  readonly invocation: Invocation;
}

export function createInvocations({ registrations, manifests, tokens }: InvocationDeps): Invocations {
  const prepared = new WeakMap<InvokeTool, Prepared>();
  return {
    build: (call) => {
      const { tenant, effect } = call;
      const registered = registrations.get(tenant, effect.toolServer);
      const known = prepared.get(effect);
      if (known !== undefined) prepared.delete(effect);
      if (known !== undefined && known.registered === registered) return known.invocation; // (I3)
      const manifest = manifests.stored(tenant, effect.toolsetSha256);
      if (!(registered instanceof Promise) && !(manifest instanceof Promise))
        return build(tokens, call, registered, manifest);
      return Promise.all([registered, manifest]).then((read) => build(tokens, call, ...read));
    },
    prepare: (call) => {
      const { tenant, effect } = call;
      const registered = registrations.known(tenant, effect.toolServer);
      const manifest = manifests.known(tenant, effect.toolsetSha256);
      if (registered === null || manifest === null) return;
      const invocation = build(tokens, call, registered, manifest);
      if (!('code' in invocation)) prepared.set(effect, { registered, invocation });
    },
  };
}

function build(
  tokens: CallbackTokens,
  call: OwedCall,
  registered: ToolServer | null,
  manifest: Manifest | null,
): Built {
  const { effect } = call;
  const name = effect.toolServer;
  if (registered === null)
    return { code: 'DISPATCH_FAILED', detail: `tool server "${name}" is not registered any more` };
  const server = atAddress(registered, effect);
  if (server.paused) return { code: 'DISPATCH_FAILED', detail: `tool server "${name}" is paused by an operator` };
  if (manifest === null)
    return {
      code: 'TOOLSET_INVALID',
      detail: `the tools of "${name}" that this call was decided on are not stored any more`,
    };
  const body = bodyOf(tokens, call, server, manifest.toolset.toolsetVersion);
  if (body === null)
    return { code: 'DISPATCH_FAILED', detail: 'the call breaks a limit of the protocol and cannot be sent' };
  return {
    server,
    url: server.endpointOverride ?? manifest.toolset.endpoint, // R3
    body,
    headers: { 'idempotency-key': effect.toolCallId, ...traceHeaders(call.trace) },
  };
}

function bodyOf(
  tokens: CallbackTokens,
  { tenant, thread, at, effect }: OwedCall,
  server: ToolServer,
  toolsetVersion: string | undefined,
): string | null {
  const { toolCallId, toolServer, operation, providerCallId, userId, callbackExpiresAt } = effect;
  const callbackUrl = tokens.url({ tenant, thread, toolCallId, toolServer, expiresAt: callbackExpiresAt }, at);
  try {
    const wire = encodeInvocation({
      operation,
      arguments: effect.arguments,
      id: toolCallId,
      ...(isId(providerCallId) && { callId: providerCallId }),
      callbackUrl,
      groupId: thread,
      ...(effect.ancestors !== undefined && { threadAncestors: effect.ancestors.slice() }), // R12
      ...(server.forwardUserId && userId !== null && { userId }), // (I2)
      ...(toolsetVersion !== undefined && { toolsetVersion }),
    });
    return JSON.stringify(wire);
  } catch {
    return null; // a limit of the strict schema: retrying would not help, the model is told
  }
}

/** `call_id` is the model's bookkeeping and optional; one that the protocol does not carry is left out. R13 */
const isId = (text: string): boolean => text.length > 0 && text.length <= idCharactersMax && text.isWellFormed();
