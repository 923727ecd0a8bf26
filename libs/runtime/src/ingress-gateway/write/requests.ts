// What a client may ask of a thread besides talking to it. Every request that reaches a thread is recorded there, as
// done or as `request_refused`; so all of them are answered 202, also for a closed thread. (V3)
import type { ThreadKey } from '@dormouse/ports';
import { unreachable, type ThreadInput } from '@dormouse/thread';
import type { IngressParts } from '../ingress-ports.ts';
import { inputIdOf, publicId, type RequestOrigin } from '../access/client-id.ts';
import { answered, type Answered } from '../refusal.ts';

export type ThreadRequest =
  | { readonly ask: 'interrupt'; readonly includeHuman: boolean }
  | { readonly ask: 'retry' }
  | { readonly ask: 'close' }
  | { readonly ask: 'cancel_call'; readonly toolCallId: string }
  | { readonly ask: 'cancel_subscription'; readonly toolCallId: string }
  | { readonly ask: 'refresh_toolsets' }
  | { readonly ask: 'migration'; readonly toolServers: Readonly<Record<string, string>> }
  | { readonly ask: 'unschedule'; readonly scheduleId: string };

export interface RequestApi {
  /** The id reappears as `cause.id` of the events it leads to. */
  post(key: ThreadKey, request: ThreadRequest, origin: RequestOrigin): Promise<Answered<{ readonly id: string }>>;
}

export type RequestPorts = Pick<IngressParts, 'bus' | 'threads' | 'mintName'>;

export function createRequestApi(ports: RequestPorts): RequestApi {
  return {
    async post(key, request, origin) {
      const found = await ports.threads.find(key);
      if (!found.ok) return found;
      const name = ports.mintName(origin);
      const requestId = publicId('req', name);
      await ports.bus.publish(key, inputOf(request, inputIdOf(name), requestId));
      return answered({ id: requestId });
    },
  };
}

function inputOf(request: ThreadRequest, id: string, requestId: string): ThreadInput {
  switch (request.ask) {
    case 'interrupt':
      return { kind: 'InterruptRequest', id, requestId, includeHuman: request.includeHuman };
    case 'retry':
      return { kind: 'RetryRequest', id, requestId };
    case 'close':
      return { kind: 'CloseRequest', id, requestId };
    case 'cancel_call':
      return { kind: 'CancelCallRequest', id, requestId, toolCallId: request.toolCallId };
    case 'cancel_subscription':
      return { kind: 'CancelSubscriptionRequest', id, requestId, toolCallId: request.toolCallId };
    case 'refresh_toolsets':
      return { kind: 'RefreshToolsetsRequest', id, requestId };
    case 'migration':
      return { kind: 'MigrationRequest', id, requestId, toolServers: request.toolServers };
    case 'unschedule':
      return { kind: 'UnscheduleRequest', id, requestId, scheduleId: request.scheduleId };
    default:
      return unreachable(request);
  }
}
