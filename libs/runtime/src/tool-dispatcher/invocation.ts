// The one request that a call is: built from the commit and the manifest it was decided on, the same bytes every time.
// RAP invocation. Not here: sending it.
//
// Invariants:
//   I1. Body and Idempotency-Key are functions of the commit, the stored manifest and the registration: a repeated POST
//       repeats them byte by byte. I-06
//   I2. The user's id leaves only where the registration says so. R105
import { encodeInvocation } from '@dormouse/protocol';
import type { ToolServer, WorkTopics } from '@dormouse/ports';
import type { InvokeTool } from '@dormouse/thread';
import type { CallbackTokens } from '../callback-gateway/callback-token.ts';
import type { Failure } from './deliver/dispatch-failure.ts';
import type { Manifest, Manifests } from './toolset/manifest.ts';
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
  /** The request, or why there will never be one. @throws Fault when a store fails. */
  build(call: OwedCall): Promise<Built>;
}

export function createInvocations({ registrations, manifests, tokens }: InvocationDeps): Invocations {
  return {
    build: async (call) => {
      const { tenant, effect } = call;
      const [registered, manifest] = await Promise.all([
        registrations.get(tenant, effect.toolServer),
        manifests.stored(tenant, effect.toolsetSha256),
      ]);
      return build(tokens, call, registered, manifest);
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
    return null; // a limit of the strict schema: retrying would not help, the failure goes to the model
  }
}

/** `call_id` is the model's bookkeeping and optional; one that the protocol does not carry is left out. R13 */
const isId = (text: string): boolean => text.length > 0 && text.length <= idCharactersMax && text.isWellFormed();
