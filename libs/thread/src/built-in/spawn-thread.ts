import { spawnThread as spawn } from '../rules/child.ts';
import { answer, type BuiltInTool, fail, schemaOf, word, words } from './built-in-tool.ts';

export const spawnThread: BuiltInTool = {
  name: 'spawn_thread',
  description:
    'Opens a child thread that works on its own with the history so far. It reports back when it has something to say.',
  inputSchema: schemaOf({ instructions: words('What the child is to do.') }),
  childrenOnly: false,
  run(draft, call) {
    const instructions = word(call, 'instructions');
    if (instructions === '') return fail(draft, call, 'instructions must not be empty');
    const spawned = spawn(draft, call.toolCallId, instructions);
    return 'problem' in spawned
      ? fail(draft, call, spawned.problem)
      : answer(draft, call, JSON.stringify({ child_id: spawned.childId }));
  },
};
