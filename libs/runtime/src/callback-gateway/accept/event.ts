// An event of a subscription: one under its sender's event id, else at least once. (callback-gateway C5)
import { inputIds } from '@dormouse/thread';
import { cleaningResult } from '../result-content.ts';
import { messageIdOf, storing, taking, type Acceptance, type CallbackOf } from './acceptance.ts';

export function acceptEvent(message: Acceptance, event: CallbackOf<'subscription_event'>): Promise<void> {
  const { deps, scope, request } = message;
  const { toolCallId, toolServer } = scope;
  const eventId = messageIdOf(request) ?? event.eventId ?? null;
  const id = inputIds.subscriptionEvent(toolCallId, eventId ?? deps.entropy.nonce());
  const { associative, final } = event;
  return message.publish(id, async () => {
    const clean = await taking(request, cleaningResult([{ type: 'text', text: event.text }], undefined));
    const { content } = await storing(message, clean);
    return { kind: 'SubscriptionEvent', id, toolCallId, toolServer, eventId, content, associative, final };
  });
}
