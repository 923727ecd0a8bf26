// A chat of the AI SDK while the process is killed in the middle of an answer, and started again.
import { afterEach, describe, expect, it } from 'vitest';
import { eventually, scriptedAgent } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import { cleanUp, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { approvalIn, chatOf, partsOf, textOf, untilReady } from './chat-client.ts';

afterEach(cleanUp);

const restarted = async (at: Standalone): Promise<Standalone> => {
  await at.stop('SIGKILL');
  return startStandalone({ dataDir: at.dataDir, port: at.port });
};

describe('a chat whose server is killed', () => {
  it('is resumed by the same page: the running message is read again, to its end, under its id', async () => {
    const first = await startStandalone();
    const agent = await scriptedAgent(first, [
      [{ text: 'I roll. ' }, toolCall('weather', { city: 'Oslo' })],
      [{ text: 'It is ' }, { wait_ms: 3_000 }, { text: 'cold.' }],
    ]);
    const chat = chatOf(first, agent);
    void chat.sendMessage({ text: 'How is Oslo?' });
    await eventually(async () => textOf(chat.lastMessage).endsWith('It is '));
    const { id } = chat.lastMessage ?? {};
    const second = await restarted(first);
    await eventually(async () => chat.status !== 'streaming');
    await chat.resumeStream();
    const message = await untilReady(chat);
    expect(textOf(message)).toBe('I roll. |It is cold.');
    expect(partsOf(message)[1]).toMatchObject({ type: 'dynamic-tool', state: 'output-available' });
    expect([message.id, chat.messages.length]).toEqual([id, 2]);
    const { messages } = (await second.request('GET', `/v1/ui/ai-sdk/${agent}/${chat.id}`)).json;
    expect(messages[1].parts).toEqual(JSON.parse(JSON.stringify(message.parts)));
  });

  it('keeps an approval that was asked before', async () => {
    const first = await startStandalone();
    const agent = await scriptedAgent(first, [[toolCall('delete_everything', {})], [{ text: 'finished' }]]);
    const chat = chatOf(first, agent);
    await chat.sendMessage({ text: 'clean up' });
    const id = approvalIn(await untilReady(chat));
    await restarted(first);
    await chat.addToolApprovalResponse({ id, approved: true });
    await eventually(async () => textOf(chat.lastMessage) === 'finished');
    expect(chat.messages).toHaveLength(2);
  });
});
