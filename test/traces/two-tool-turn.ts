// A turn with two tools, one after the other, and the tree of its spans in a cluster.
import { openThread, say, scriptedAgent, type Step, type System, untilStatus } from '../e2e/conversation.ts';

const call = (operation: string, args: object): Step => ({ tool_call: { name: operation, arguments: args } });

export interface TwoToolTurn {
  readonly agent: string;
  readonly thread: string;
}

/** Resolves when the turn is over. */
export async function takeTwoToolTurn(at: System): Promise<TwoToolTurn> {
  const agent = await scriptedAgent(at, [
    [call('weather', { city: 'Oslo' })],
    [call('weather', { city: 'Rome' })],
    [{ text: 'Both are fine.' }],
  ]);
  const thread = await openThread(at, agent);
  await untilStatus(at, thread, 'idle');
  await say(at, thread, 'How is it in Oslo and in Rome?');
  return { agent, thread };
}

/** As `treeOf` shows it. */
export const treeOverCluster = (agent: string): readonly string[] => [
  'POST /v1/threads/{id}/messages (server)',
  '  send inputs (producer)',
  '    process inputs (consumer)',
  `      invoke_agent ${agent} (internal)`,
  '        chat scripted (client)',
  '        execute_tool weather (internal)',
  `          invoke_agent ${agent} (internal)`,
  '            chat scripted (client)',
  '            execute_tool weather (internal)',
  `              invoke_agent ${agent} (internal)`,
  '                chat scripted (client)',
  '                settle_tool weather (internal)',
  '              process inputs (consumer)',
  '              send dispatches (producer)',
  '                process dispatches (consumer)',
  '                  POST example-tools (client)',
  '            settle_tool weather (internal)',
  '          process inputs (consumer)',
  '          send dispatches (producer)',
  '            process dispatches (consumer)',
  '              POST example-tools (client)',
];
