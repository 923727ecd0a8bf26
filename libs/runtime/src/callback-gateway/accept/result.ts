// A tool's result, or the confirmation that its call became a subscription.
import { opensSubscription, resultContent } from '@dormouse/protocol';
import { inputIds } from '@dormouse/thread';
import { cleaningResult } from '../result-content.ts';
import { storing, taking, type Acceptance, type CallbackOf } from './acceptance.ts';

export async function acceptResult(message: Acceptance, result: CallbackOf<'tool_result'>): Promise<void> {
  const { toolCallId, toolServer } = message.scope;
  const clean = await taking(message.request, cleaningResult(resultContent(result), result.displayAs)); // R49
  const subscription = opensSubscription({ content: [...clean.items], subscription: result.subscription });
  const id = subscription ? inputIds.confirmation(toolCallId) : inputIds.result(toolCallId);
  return message.publish(id, async () => {
    const { content, displayAs } = await storing(message, clean);
    return { kind: 'ToolResult', id, toolCallId, toolServer, content, displayAs, subscription };
  });
}
