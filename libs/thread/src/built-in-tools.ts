// The definitions of the tools that the runtime itself offers to a model, beside its toolsets. api: Built-in tools
import type { Thread } from './thread.ts';

export interface BuiltInTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Offered to child threads only. */
  readonly childrenOnly: boolean;
}

const words = (description: string) => ({ type: 'string', minLength: 1, description }) as const;

function tool(
  name: string,
  description: string,
  properties: Readonly<Record<string, object>>,
  options: { readonly childrenOnly?: boolean; readonly optional?: boolean } = {},
): BuiltInTool {
  const required = options.optional === true ? {} : { required: Object.keys(properties) };
  const inputSchema = { type: 'object', properties, ...required, additionalProperties: false };
  return { name, description, inputSchema, childrenOnly: options.childrenOnly === true };
}

const builtInTools: readonly BuiltInTool[] = [
  tool('cancel_subscription', 'Ends a subscription of this thread. Use the id of the tool call that subscribed.', {
    tool_call_id: words('Id of the call that opened the subscription.'),
  }),
  tool(
    'spawn_thread',
    'Opens a child thread that works on its own with the history so far. It reports back when it has something to say.',
    { instructions: words('What the child is to do.') },
  ),
  tool('send_message_to_child', 'Sends a message to an open child thread.', {
    child_id: words('Id of the child.'),
    text: words('The message.'),
  }),
  tool(
    'report_to_parent',
    'Tells the parent thread something. This thread goes on.',
    { report: words('What the parent is told.') },
    { childrenOnly: true },
  ),
  tool(
    'close_thread',
    'Ends this thread for good, with a last report to the parent.',
    { report: { type: 'string', description: 'What the parent is told.' } },
    { childrenOnly: true, optional: true },
  ),
  tool('set_title', 'Names this thread for people who look at a list of threads.', {
    title: words('A few words.'),
  }),
  tool('sleep', 'Ends the turn. The thread is woken after this time, or earlier when something else happens.', {
    seconds: { type: 'number', exclusiveMinimum: 0, description: 'How long.' },
  }),
  tool('sleep_until', 'Ends the turn. The thread is woken at this time, or earlier when something else happens.', {
    at: words('RFC 3339 with offset, for example 2027-01-31T08:00:00Z.'),
  }),
];

const forRoots = builtInTools.filter((definition) => !definition.childrenOnly);

/** What this thread may call; the same list in the same order for its whole life. */
export const offeredBuiltIns = (thread: Pick<Thread, 'parent'>): readonly BuiltInTool[] =>
  thread.parent === null ? forRoots : builtInTools;

export const isBuiltIn = (operation: string): boolean => builtInTools.some(({ name }) => name === operation);
