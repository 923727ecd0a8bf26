// User messages: from the API to the topic `inputs`. The thread alone decides what becomes of a message.
//
// Invariants:
//   U1. The answer comes after the input is durable; its id is the message's, and returns as `message_id`, `turn_id`
//       and `cause.id` of what it leads to. I-01
//   U2. Nothing is published for a thread that does not exist, and nothing that the tenant's quotas leave no room for.
import type { ThreadKey } from '@dormouse/ports';
import type { IngressParts } from '../ingress-ports.ts';
import { inputIdOf, publicId, type RequestOrigin } from '../access/client-id.ts';
import { type MessageItem, storeContent } from './message-content.ts';
import { answered, type Answered } from '../refusal.ts';

export interface PostedMessage {
  /** The public id, `msg_…`. */
  readonly id: string;
  readonly inputId: string;
  /** Sent with an idempotency key: it may have been decided long ago. */
  readonly mayBeOld: boolean;
}

export interface MessageApi {
  post(key: ThreadKey, items: readonly MessageItem[], origin: RequestOrigin): Promise<Answered<PostedMessage>>;
}

export type MessagePorts = Pick<IngressParts, 'bus' | 'blobs' | 'threads' | 'mintName' | 'limits'>;

export function createMessageApi(ports: MessagePorts): MessageApi {
  const { bus, threads, mintName, limits } = ports;
  return {
    async post(given, items, origin) {
      const found = await threads.find(given); // (U2)
      if (!found.ok) return found;
      const key = found.value;
      const room = await limits.mayAsk(key.tenant);
      const entry = room.ok ? limits.mayEnter(key.tenant) : room;
      if (!entry.ok) return entry;
      const name = mintName(origin);
      const content = await storeContent(ports, key, items);
      const posted = { id: publicId('msg', name), inputId: inputIdOf(name), mayBeOld: origin.idempotencyKey !== null };
      await bus.publish(key, { kind: 'UserMessage', id: posted.inputId, messageId: posted.id, content }); // (U1)
      return answered(posted);
    },
  };
}
