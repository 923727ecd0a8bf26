// RAP transport and tool-result, the way back: which callbacks are accepted, from which servers, how often, and what a
// model and a user see of a result.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, eventually, say, untilEvent, untilStatus } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import type { Json } from '../e2e/standalone-process.ts';
import { type Prompt, resultIn } from './recording-model.ts';
import { postCallback, type RecordingToolServer } from './recording-tool-server.ts';
import { aWhile, discardedOf, eventsOfType, type More, setRig, type Rig, tell } from './conformance-rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await setRig();
});
afterAll(() => rig.end());

interface Pending {
  readonly server: RecordingToolServer;
  readonly thread: string;
  /** The invocation that waits for its result. */
  readonly call: Json;
  readonly prompts: readonly Prompt[];
}

/** A thread whose one call is pending. */
async function pending(more: More = {}): Promise<Pending> {
  const server = await rig.toolServer();
  const script = [[toolCall('work')], [{ text: 'understood' }]];
  const { thread, prompts } = await rig.watchedThread(script, [server], more);
  await tell(rig.at, thread, 'go');
  return { server, thread, prompts, call: await server.invocation(0) };
}

/** Sends a result and returns what the model read of it. */
async function readByModel(message: Readonly<Record<string, unknown>>, more: More = {}): Promise<Json> {
  const { server, thread, prompts, call } = await pending(more);
  expect((await server.send(call, { type: 'tool_result', ...message })).status).toBe(200);
  await untilStatus(rig.at, thread, 'idle');
  return { thread, prompt: prompts[1], result: resultIn(prompts[1], call.id) };
}

const finish = async ({ server, thread, call, prompts }: Pending): Promise<string | undefined> => {
  expect((await server.send(call, { type: 'tool_result', text: 'the true one' })).status).toBe(200);
  await untilStatus(rig.at, thread, 'idle');
  return resultIn(prompts[1], call.id);
};

describe.concurrent('a callback', () => {
  it('R32 R36 of each of the five types is taken with 200 and has its effect', async () => {
    const asked = await pending();
    const { server, thread, call } = asked;
    const effects: readonly (readonly [Readonly<Record<string, unknown>>, () => Promise<unknown>])[] = [
      [
        { type: 'view_update', view_type: 'board', content: { a: 1 } },
        () =>
          eventually(async () => (await rig.at.request('GET', `/v1/threads/${thread}/views`)).json.data.length === 1),
      ],
      [{ type: 'oauth', auth_url: 'https://login.example/' }, () => untilEvent(rig.at, thread, 'oauth_requested')],
      [
        { type: 'user_choice', prompt: '?', choices: ['a'], default: 0, response_url: `${server.url}/answer` },
        () => untilEvent(rig.at, thread, 'choice_requested'),
      ],
      [{ type: 'tool_result', text: 'sub', subscription: true }, () => untilEvent(rig.at, thread, 'tool_call_settled')],
      [
        { type: 'subscription_event', text: 'ding', associative: true },
        () => untilEvent(rig.at, thread, 'subscription_event_received'),
      ],
    ];
    for (const [message, effect] of effects) {
      expect([message['type'], (await server.send(call, message)).status]).toEqual([message['type'], 200]);
      await effect();
    }
  });

  /** Each with the text as it is sent, given the ids of the call. */
  const malformed: readonly (readonly [string, (about: Readonly<Record<string, string>>) => string])[] = [
    ['without an id', ({ group_id }) => JSON.stringify({ type: 'tool_result', group_id, text: 'x' })],
    ['without a type', (about) => JSON.stringify({ ...about, text: 'x' })],
    ['of an unknown type', (about) => JSON.stringify({ ...about, type: 'tool_resolt', text: 'x' })],
    ['with a text that is a number', (about) => JSON.stringify({ ...about, type: 'tool_result', text: 5 })],
    ['with neither text nor content', (about) => JSON.stringify({ ...about, type: 'tool_result' })],
    [
      'with an id that is a list',
      (about) => JSON.stringify({ ...about, id: [about['id']], type: 'tool_result', text: 'x' }),
    ],
    ['that is a list', (about) => JSON.stringify([{ ...about, type: 'tool_result', text: 'x' }])],
    ['that is a text', () => '"tool_result"'],
    ['that is no JSON', () => 'type=tool_result&text=x'],
    [
      'with a choice that has no default',
      (about) => JSON.stringify({ ...about, type: 'user_choice', prompt: '?', choices: ['a'] }),
    ],
  ];
  it.each(malformed)(
    'R33 %s is refused with a 4xx, shown on the thread, and changes nothing',
    async (_what, bodyOf) => {
      const asked = await pending();
      const { thread, call } = asked;
      const answer = await postCallback(call.callback_url, bodyOf({ group_id: thread, id: call.id }));
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.status).toBeLessThan(500);
      expect(await untilEvent(rig.at, thread, 'callback_rejected')).toMatchObject({ tool_call_id: call.id });
      expect(await eventsOfType(rig.at, thread, 'tool_call_settled')).toEqual([]);
      expect(await finish(asked)).toBe('the true one');
    },
  );

  it('R33 without a group_id is about the thread of its URL', async () => {
    const asked = await pending();
    const body = JSON.stringify({ type: 'tool_result', id: asked.call.id, text: 'the true one' });
    expect((await postCallback(asked.call.callback_url, body)).status).toBe(200);
    await untilStatus(rig.at, asked.thread, 'idle');
    expect(resultIn(asked.prompts[1], asked.call.id)).toBe('the true one');
  });

  it('R34 R35 that belongs to no pending call changes no history: foreign ids, and a call that has its result', async () => {
    const [asked, other] = await Promise.all([pending(), pending()]);
    const before = (await eventsOf(rig.at, asked.thread)).length;
    const foreign = [{ id: 'call_nobody' }, { id: other.call.id }, { group_id: other.thread }];
    for (const ids of foreign)
      expect((await asked.server.send(asked.call, { type: 'tool_result', text: 'forged', ...ids })).status).toBe(403);
    await aWhile();
    expect((await eventsOf(rig.at, asked.thread)).length).toBe(before);
    expect(await eventsOfType(rig.at, other.thread, 'tool_call_settled')).toEqual([]);
    expect(await finish(asked)).toBe('the true one');
    const after = await eventsOf(rig.at, asked.thread);
    for (const type of ['tool_result', 'oauth', 'user_choice']) {
      const late = { type, text: 'x', auth_url: 'https://a.example', prompt: '?', choices: ['a'], default: 0 };
      const answer = await asked.server.send(asked.call, { ...late, response_url: asked.server.url });
      expect([type, answer.status]).toEqual([type, 200]);
    }
    await aWhile();
    expect(await eventsOf(rig.at, asked.thread)).toEqual(after);
    // The result is one that came before; the others are about a call that is over.
    const told = discardedOf(rig.at, asked.thread).map(({ input, reason }) => `${input} ${reason}`);
    expect(told.toSorted()).toEqual(['ChoicePrompt NOT_PENDING', 'LoginPrompt NOT_PENDING']);
  });

  it('R37 R40 delivered five times at once and again later is one result and one completion', async () => {
    const asked = await pending();
    const results = ['first', 'first', 'first', 'second', 'first'];
    const answers = await Promise.all(
      results.map((text) => asked.server.send(asked.call, { type: 'tool_result', text })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    await untilStatus(rig.at, asked.thread, 'idle');
    const captured = { type: 'tool_result', text: 'replayed' };
    expect((await asked.server.send(asked.call, captured)).status).toBe(200);
    await aWhile();
    expect(await eventsOfType(rig.at, asked.thread, 'tool_call_settled')).toHaveLength(1);
    expect(asked.prompts).toHaveLength(2);
    expect(['first', 'second']).toContain(resultIn(asked.prompts[1], asked.call.id));
  });

  it('R38 needs its token to the last byte, and a token is good for its own call only', async () => {
    const [asked, other] = await Promise.all([pending(), pending()]);
    const url: string = asked.call.callback_url;
    const token = url.split('/').at(-1) ?? '';
    const message = { type: 'tool_result', group_id: asked.thread, id: asked.call.id, text: 'forged' };
    const altered = [0, Math.floor(token.length / 2), token.length - 2].map((place) => {
      const letter = token[place] === 'A' ? 'B' : 'A';
      return url.slice(0, -token.length) + token.slice(0, place) + letter + token.slice(place + 1);
    });
    for (const wrong of [...altered, `${url}A`, url.slice(0, -1)])
      expect((await postCallback(wrong, JSON.stringify(message))).status).toBe(401);
    expect((await postCallback(other.call.callback_url, JSON.stringify(message))).status).toBe(403);
    expect(await eventsOfType(rig.at, asked.thread, 'tool_call_settled')).toEqual([]);
    // A foreign credential beside the token is ignored.
    const answer = await asked.server.send(
      asked.call,
      { type: 'tool_result', text: 'ok' },
      { authorization: 'Bearer nonsense' },
    );
    expect(answer.status).toBe(200);
    await untilStatus(rig.at, asked.thread, 'idle');
  });

  it('R39 on a URL that has expired is refused with 410', async () => {
    const asked = await pending({ agent: { limits: { callback_ttl_s: 1 } } });
    await aWhile(1_200);
    const answer = await asked.server.send(asked.call, { type: 'tool_result', text: 'too late' });
    expect(answer.status).toBe(410);
    expect(await eventsOfType(rig.at, asked.thread, 'tool_call_settled')).toEqual([]);
  });
});

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+M8AAAMBAQDJ/pLvAAAAAElFTkSuQmCC';

describe.concurrent('a result', () => {
  it('R44 with content and text: the model reads the content only; either alone will do', async () => {
    const content = [{ type: 'text', text: 'from content' }];
    expect((await readByModel({ text: 'from text', content })).result).toBe('from content');
    expect((await readByModel({ text: 'from text' })).result).toBe('from text');
    expect((await readByModel({ content, call_id: null, display_as: null })).result).toBe('from content');
  });

  it('R45 with an image, for a model that takes none: a placeholder stands for it, the texts stay', async () => {
    const content = [
      { type: 'text', text: 'before' },
      { type: 'image', data: pixel, mediaType: 'image/png' },
      { type: 'text', text: 'after' },
    ];
    const blind = await readByModel({ content });
    expect(JSON.stringify(blind.prompt)).not.toContain(pixel.slice(0, 40));
    expect(blind.result).toMatch(/before[\s\S]*image[\s\S]*after/);
    const seeing = await readByModel({ content }, { model: { images: true } });
    expect(JSON.stringify(seeing.prompt)).toContain(pixel);
  });

  it('R46 that is plain text, and no JSON at all, is taken as it is', async () => {
    expect((await readByModel({ text: 'not json {' })).result).toBe('not json {');
  });

  it('R47 reads the same with and without display segments', async () => {
    const display_as = [
      { type: 'diff', content: { path: 'a.txt', patch: '@@ only for people @@' } },
      { type: 'text', content: 'only for people' },
    ];
    const withIt = await readByModel({ text: 'for the model', display_as });
    const without = await readByModel({ text: 'for the model' });
    expect(withIt.result).toBe(without.result);
    expect(JSON.stringify(withIt.prompt)).not.toContain('only for people');
  });

  it('R48 is shown by the first segment that is known, else by its text', async () => {
    const displayOf = async (display_as: readonly unknown[]): Promise<Json> => {
      const { thread } = await readByModel({ text: 'the text', display_as });
      const { json } = await rig.at.request('GET', `/v1/threads/${thread}/messages`);
      return json.data.find(({ role }: { role: string }) => role === 'tool');
    };
    const chart = { type: 'chart', content: { bars: [1, 2] } };
    expect((await displayOf([chart, { type: 'text', content: 'shown' }])).display).toEqual({
      type: 'text',
      content: 'shown',
    });
    const unknown = await displayOf([chart]);
    expect(unknown.text).toBe('the text');
    expect(unknown).not.toHaveProperty('display');
  });

  it('R49 R106 is cleaned of control characters and terminal sequences before anybody reads it', async () => {
    const { result, thread } = await readByModel({ text: 'a\u001b[31mred\u0000\u0007b\tc\nd\u001b]0;title\u0007' });
    expect(result).toBe('aredb\tc\nd');
    const settled = await untilEvent(rig.at, thread, 'tool_call_settled');
    expect(settled.content).toEqual([{ type: 'text', text: 'aredb\tc\nd' }]);
  });

  it('R49 R106 that is too large, or holds what is no image, settles its call with an error or is refused', async () => {
    const huge = await pending();
    const answer = await huge.server.send(huge.call, { type: 'tool_result', text: 'x'.repeat(5 * 1_024 * 1_024) });
    expect(answer.status).toBe(413);
    await untilStatus(rig.at, huge.thread, 'idle');
    expect(resultIn(huge.prompts[1], huge.call.id)).toMatch(/^Error: .*too large/);
    const odd = await pending();
    const content = [{ type: 'image', data: 'not base64!', mediaType: 'image/png' }];
    expect((await odd.server.send(odd.call, { type: 'tool_result', content })).status).toBe(422);
    expect(await finish(odd)).toBe('the true one');
  });

  it('R49 that is an error of the tool is one for the model and in the log', async () => {
    const { thread, result } = await readByModel({ text: 'Error: the disk is full' });
    expect(result).toBe('Error: the disk is full');
    expect(await untilEvent(rig.at, thread, 'tool_call_settled')).toMatchObject({ outcome: 'error' });
    expect(await say(rig.at, thread, 'and now?')).toMatchObject({ status: 'idle' });
  });
});
