// Events that a client tells a thread about: from outside, and no tool server's.
//
// Invariants:
//   E1. An event with an id is one event of its thread and source, for ever: the id makes that of its input. It is
//       answered alike when it is sent again, whatever else it says.
//   E2. Nothing is published while too much of the tenant waits for its threads, or its quotas let it store or ask no
//       more: an event asks the model as a message does. (tenant-limits)
import type { ThreadKey } from '@dormouse/ports';
import {
  inputIdOf,
  type MintRequestName,
  nameOfText,
  publicId,
  type RequestOrigin,
} from '../ingress-gateway/access/client-id.ts';
import { answered, type Answered } from '../ingress-gateway/refusal.ts';
import { storeContent } from '../ingress-gateway/write/message-content.ts';
import type { MessagePorts } from '../ingress-gateway/write/messages.ts';

export interface GivenEvent {
  readonly source: string;
  readonly id: string | null;
  readonly text: string;
  readonly associative: boolean;
}

export interface ExternalEventApi {
  /** The id reappears as `cause.id` of the events that it leads to. */
  post(key: ThreadKey, event: GivenEvent, origin: RequestOrigin): Promise<Answered<{ readonly id: string }>>;
}

export function createExternalEventApi(ports: MessagePorts): ExternalEventApi {
  const { bus, threads, mintName, limits } = ports;
  return {
    async post(given, event, origin) {
      const found = await threads.find(given);
      if (!found.ok) return found;
      const key = found.value;
      const room = await limits.mayAsk(key.tenant); // (E2)
      const entry = room.ok ? limits.mayEnter(key.tenant) : room;
      if (!entry.ok) return entry;
      const name = nameOf(key, event, mintName, origin);
      const requestId = publicId('req', name);
      const { source, id: eventId, associative } = event;
      const content = await storeContent(ports, key, [{ type: 'text', text: event.text }]);
      const id = inputIdOf(name);
      await bus.publish(key, { kind: 'ExternalEvent', id, requestId, source, eventId, content, associative });
      return answered({ id: requestId });
    },
  };
}

/** (E1) */
function nameOf(
  { tenant, thread }: ThreadKey,
  { source, id }: GivenEvent,
  mintName: MintRequestName,
  origin: RequestOrigin,
): string {
  return id === null ? mintName(origin) : nameOfText(JSON.stringify(['event', tenant, thread, source, id]));
}
