import { cancelSubscription as cancel } from '../rules/subscription.ts';
import { answer, type BuiltInTool, fail, schemaOf, word, words } from './built-in-tool.ts';

export const cancelSubscription: BuiltInTool = {
  name: 'cancel_subscription',
  description: 'Ends a subscription of this thread. Use the id of the tool call that subscribed.',
  inputSchema: schemaOf({ tool_call_id: words('Id of the call that opened the subscription.') }),
  childrenOnly: false,
  run(draft, call) {
    const toolCallId = word(call, 'tool_call_id');
    if (cancel(draft, toolCallId)) return answer(draft, call, `The subscription ${toolCallId} is cancelled.`);
    return fail(draft, call, `this thread has no subscription "${toolCallId}"`); // R77
  },
};
