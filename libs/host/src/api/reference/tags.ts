// What the groups of operations and the parameters in paths are, for the reference.

export const tagTexts: Readonly<Record<string, string>> = {
  agents:
    'An agent is instructions, a model, tool servers, policies and limits. Its versions never change: other content makes the next version, and a thread keeps the version it was opened with.',
  secrets: 'Credentials of models and tool servers: encrypted, never given back, sent to named origins only.',
  'tool servers': 'Servers that offer tools over the Reactive Agent Protocol.',
  threads: 'A thread is one conversation with an agent. It sleeps until something happens, for years if need be.',
  messages: 'What people say, and the conversation as they read it.',
  thread: 'The parts of one thread: events, calls, turns, subscriptions, views, schedules, choices, blobs and tokens.',
  choices: 'What waits for people, over all threads, and their answers.',
  operations: 'Threads that cannot go on by themselves, backups, and usage.',
  keys: 'API keys of the tenant.',
  tenants: 'The customers of this installation, managed with the platform key and no other.',
  console: 'Sessions of the console in a browser.',
  development: 'Only standalone, and only for requests from the same machine.',
  webhooks: 'Addresses that are told what happens in threads: signed POSTs, retried for a day.',
  sources: 'Signed deliveries from elsewhere, such as GitHub’s webhooks, that wake or open threads.',
  schedules: 'Times at which a thread is woken or opened.',
  ui: 'Streams in the formats of user interface libraries.',
};

/** By the segment of the path that goes before the parameter. */
const parameterTexts: Readonly<Record<string, string>> = {
  agents: 'Name or id of the agent.',
  versions: 'Number of the version, from 1.',
  secrets: 'Name of the secret.',
  'tool-servers': 'Name or id of the tool server.',
  threads: 'Id of the thread.',
  parked: 'Id of the thread.',
  'tool-calls': 'Id of the call.',
  subscriptions: 'Id of the call that subscribed.',
  schedules: 'Id of the schedule; of a tenant’s own, also its name.',
  choices: 'Id of the choice.',
  blobs: 'SHA-256 of the payload, in lower-case hex.',
  tokens: 'Id of the token.',
  'api-keys': 'Id of the key.',
  tenants: 'Id of the tenant.',
  sources: 'Name or id of the source.',
  users: 'Id of the end user: the `user_id` of threads.',
  credentials: 'Name or id of the tool server.',
  'ai-sdk': 'Name of the agent.',
  '{agent}': 'Id of the chat: the `external_id` of its thread.',
  'ag-ui': 'Name of the agent.',
  webhooks: 'Id of the webhook.',
  deliveries: 'Id of the delivery.',
  erasures: 'Id of the erasure.',
};

export interface PathParameter {
  readonly name: string;
  readonly description: string;
}

/** The parameters of a path such as `/v1/threads/{id}`, in order. @throws Error for one without a text */
export function pathParameters(path: string): readonly PathParameter[] {
  const segments = path.split('/');
  return segments.flatMap((segment, index) => {
    const name = /^\{(\w+)\}/.exec(segment)?.[1];
    if (name === undefined) return [];
    const description = parameterTexts[segments[index - 1] ?? ''];
    if (description === undefined) throw new Error(`${path}: {${name}} is not described in tags.ts`);
    return [{ name, description }];
  });
}
