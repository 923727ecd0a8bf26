import { threadLimits } from '../policy.ts';
import { answer, type BuiltInTool, fail, schemaOf, word, words } from './built-in-tool.ts';

export const setTitle: BuiltInTool = {
  name: 'set_title',
  description: 'Names this thread for people who look at a list of threads.',
  inputSchema: schemaOf({ title: words('A few words.') }),
  childrenOnly: false,
  run(draft, call) {
    const title = word(call, 'title').trim();
    if (title === '' || title.length > threadLimits.titleCharactersMax)
      return fail(draft, call, `a title has 1 to ${threadLimits.titleCharactersMax} characters`);
    draft.emit({ type: 'TitleSet', title });
    return answer(draft, call, 'The title is set.');
  },
};
