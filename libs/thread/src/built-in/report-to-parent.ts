import { text } from '../content.ts';
import { reportToParent as report } from '../rules/child.ts';
import { answer, type BuiltInTool, schemaOf, word, words } from './built-in-tool.ts';

export const reportToParent: BuiltInTool = {
  name: 'report_to_parent',
  description: 'Tells the parent thread something. This thread goes on.',
  inputSchema: schemaOf({ report: words('What the parent is told.') }),
  childrenOnly: true,
  run(draft, call) {
    report(draft, call.toolCallId, [text(word(call, 'report'))], false);
    return answer(draft, call, 'Reported.');
  },
};
