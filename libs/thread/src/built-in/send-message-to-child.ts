import { text } from '../content.ts';
import { inputIds } from '../input.ts';
import { own } from '../thread.ts';
import { answer, type BuiltInTool, fail, schemaOf, word, words } from './built-in-tool.ts';

export const sendMessageToChild: BuiltInTool = {
  name: 'send_message_to_child',
  description: 'Sends a message to an open child thread.',
  inputSchema: schemaOf({ child_id: words('Id of the child.'), text: words('The message.') }),
  childrenOnly: false,
  run(draft, call) {
    const childId = word(call, 'child_id');
    if (own(draft.thread.children, childId) === undefined)
      return fail(draft, call, `this thread has no open child "${childId}"`);
    const content = [text(word(call, 'text'))];
    draft.owe({ do: 'SendToChild', id: inputIds.parentMessage(call.toolCallId), childId, content });
    return answer(draft, call, `Sent to ${childId}.`);
  },
};
