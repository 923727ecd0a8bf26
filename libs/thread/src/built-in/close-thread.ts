import { answer, type BuiltInTool, schemaOf, word } from './built-in-tool.ts';

export const closeThread: BuiltInTool = {
  name: 'close_thread',
  description: 'Ends this thread for good, with a last report to the parent.',
  inputSchema: schemaOf({ report: { type: 'string', description: 'What the parent is told.' } }, { optional: true }),
  childrenOnly: true,
  run(draft, call) {
    answer(draft, call, 'This thread closes now.');
    return { wish: 'close', report: word(call, 'report') || null };
  },
};
