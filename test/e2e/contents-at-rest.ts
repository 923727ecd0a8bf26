// A conversation with a word of its own in every content, for specs that search the stores for these words.
import { chunk, done, startChatServer, streams } from '../model/chat-server.ts';
import { eventually, openThread, say, type System, untilStatus } from './conversation.ts';
import { driveToolServer } from './driven-tool-server.ts';

/** Larger than what the log keeps itself. */
const largeCharacters = 80_000;

export interface CanaryThread {
  readonly thread: string;
  /** Contents: never in the clear in any store. */
  readonly contents: readonly string[];
  /** Labels: in the clear until they are erased. */
  readonly labels: readonly string[];
}

/** `mark` distinguishes the words of one thread from those of another. */
export async function canaryConversation(at: System, mark: string): Promise<CanaryThread> {
  const words: string[] = [];
  const canary = (name: string): string => {
    const word = `canary-${mark}-${name}`;
    words.push(word);
    return word;
  };
  const tools = await driveToolServer(at);
  const model = await startChatServer(); // the words of a script would be in the agent's own document
  const called = { name: 'work', arguments: JSON.stringify({ what: canary('argument') }) };
  model.answers(
    streams(
      chunk({ role: 'assistant', content: canary('thought') }),
      chunk({ tool_calls: [{ index: 0, id: 'c1', type: 'function', function: called }] }, 'tool_calls'),
      done,
    ),
    streams(chunk({ role: 'assistant', content: canary('answer') }, 'stop'), done),
    streams(chunk({ role: 'assistant', content: canary('reply') }, 'stop'), done),
  );
  const agent = `agent-of-${mark}`;
  const made = await at.request('POST', '/v1/agents', {
    ...{ name: agent, tool_servers: [tools.name] },
    model: { provider: 'openai-compatible', name: 'm', base_url: `${model.url}/v1`, api_key_secret: null },
  });
  if (made.status !== 201) throw new Error(`agent: ${made.status} ${made.text}`);
  const labels = { title: `label-${mark}-title`, metadata: { note: `label-${mark}-metadata` } };
  const named = { user_id: `label-${mark}-user`, external_id: `label-${mark}-external` };
  const thread = await openThread(at, agent, { ...labels, ...named, message: { text: canary('opening') } });
  const call = await tools.invocation(0);
  await tools.send(call, { type: 'view_update', view_type: 'card', content: { body: canary('view') } });
  const large = `${canary('large')} ${'x'.repeat(largeCharacters)}`;
  await tools.send(call, {
    type: 'tool_result',
    content: [
      { type: 'text', text: canary('result') },
      { type: 'text', text: large },
    ],
  });
  await untilStatus(at, thread, 'idle');
  await say(at, thread, canary('message'));
  await eventually(async () => (await at.request('GET', `/v1/threads/${thread}/views`)).json.data.length === 1);
  await Promise.all([tools.close(), model.close()]);
  return { thread, contents: words, labels: [labels.title, labels.metadata.note, named.user_id, named.external_id] };
}
