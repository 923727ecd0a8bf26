// The one request that a call is: built from the commit and the manifest it was decided on, the same bytes every time.
// RAP invocation. Not here: sending it.
//
// Invariants:
//   I1. Body and Idempotency-Key are functions of the commit, the stored manifest and the registration: a repeated POST
//       repeats them byte by byte. I-06
//   I2. The user's id leaves only where the registration says so. R105
import { encodeInvocation } from '@dormouse/protocol';
import type { Owed, SendRequest, ToolServer } from '@dormouse/ports';
import type { InvokeTool } from '@dormouse/thread';
import type { CallbackTokens } from '../callback-gateway/callback-token.ts';
import { dispatchFailed, type Failure } from './deliver/dispatch-failure.ts';
import type { Manifests } from './toolset/manifest.ts';
import { atAddress, type Registrations } from './registrations.ts';
import { traceHeaders } from './trace-headers.ts';

export type OwedCall = Owed<InvokeTool>;

export type Invocation = Pick<SendRequest, 'server' | 'url' | 'body' | 'headers'>;

export interface InvocationDeps {
  readonly registrations: Registrations;
  readonly manifests: Manifests;
  readonly callbackTokens: CallbackTokens;
}

const idCharactersMax = 200;

/** The request, or why there will never be one. @throws Fault when a store fails. */
export async function buildInvocation(
  { registrations, manifests, callbackTokens }: InvocationDeps,
  call: OwedCall,
): Promise<Invocation | Failure> {
  const { tenant, effect } = call;
  const { toolServer: name } = effect;
  const [registered, manifest] = await Promise.all([
    registrations.get(tenant, name),
    manifests.stored(tenant, effect.toolsetSha256),
  ]);
  if (registered === null) return dispatchFailed(`tool server "${name}" is not registered any more`);
  const server = atAddress(registered, effect);
  if (manifest === null)
    return {
      code: 'TOOLSET_INVALID',
      detail: `the tools of "${name}" that this call was decided on are not stored any more`,
    };
  const body = bodyOf(callbackTokens, call, server, manifest.toolset.toolsetVersion);
  if (body === null) return dispatchFailed('the call breaks a limit of the protocol and cannot be sent');
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
