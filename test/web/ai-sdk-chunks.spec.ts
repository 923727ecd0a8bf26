// Chunks of the AI SDK from recorded conversations, read by its own reader: late and lost text, attempts, responses
// that begin anywhere, histories.
import { AiSdkEncoder, type Chunk, UiHistory, type Watched } from '@dormouse/runtime';
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { describe, expect, it } from 'vitest';
import { partsOf, textOf } from './chat-client.ts';

type Fields = Readonly<Record<string, unknown>>;
let position = 0;

const event = (type: string, fields: Fields = {}, turn = 'msg_1'): Watched => ({
  frame: 'event',
  event: { position: ++position, at: '2026-01-01T00:00:00.000Z', type, turn_id: turn, ...fields },
});
const accepted = (id = 'msg_1'): Watched =>
  event('message_accepted', { message_id: id, content: [{ type: 'text', text: 'hello' }] }, id);
const requested = (id = 'cmp_1', turn = 'msg_1'): Watched => event('completion_requested', { completion_id: id }, turn);
const recorded = (text: string, more: Fields = {}, id = 'cmp_1'): Watched =>
  event('completion_recorded', { completion_id: id, message: { text, ...more }, finish_reason: 'stop', final: true });
type Shown = 'text' | 'reasoning';
const delta = (text: string, offset: number, attempt = 1, kind: Shown = 'text', completionId = 'cmp_1'): Watched => ({
  frame: 'delta',
  data: { completionId, attempt, offset, kind, index: 0, text },
});
const mark = (atRest: boolean, waitingOn: readonly object[] = []): Watched => ({
  frame: 'mark',
  data: { status: atRest ? 'idle' : 'thinking', waitingOn, atRest, position },
});

const rest = mark(true);
const beginning = { awaits: 'msg_1', messageId: null, turnId: null, calls: [] };

function chunksOf(frames: readonly Watched[], from = beginning): readonly Chunk[] {
  const encoder = new AiSdkEncoder(from);
  const chunks = frames.flatMap((frame) => encoder.take(frame));
  expect(encoder.isOver).toBe(true);
  return chunks;
}

/** The message as the unmodified package reads it. */
async function read(chunks: readonly Chunk[]): Promise<UIMessage | undefined> {
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk as UIMessageChunk);
      controller.close();
    },
  });
  let last: UIMessage | undefined;
  for await (const message of readUIMessageStream({ stream, terminateOnError: true })) last = message;
  return last;
}

const shown = async (...frames: readonly Watched[]): Promise<string> => textOf(await read(chunksOf(frames)));

describe('a message', () => {
  it('C1 begins with start and ends with finish, and nothing follows', () => {
    const encoder = new AiSdkEncoder(beginning);
    const frames = [accepted(), requested(), delta('hi', 0), recorded('hi'), rest, requested('cmp_2'), rest];
    const types = frames.flatMap((frame) => encoder.take(frame)).map(({ type }) => type);
    expect([types[0], types.at(-1)]).toEqual(['start', 'finish']);
    expect(types.filter((type) => type === 'finish')).toHaveLength(1);
  });

  it('begins when its own message is decided, whatever came before', async () => {
    const before = [accepted('msg_0'), requested('cmp_0', 'msg_0'), rest, mark(true)];
    expect(await shown(...before, accepted(), requested(), recorded('hi'), rest)).toBe('hi');
  });

  it('C2 ends with the completion of another turn', async () => {
    const chunks = chunksOf([accepted(), requested(), recorded('one'), accepted('msg_2'), requested('cmp_2', 'msg_2')]);
    expect(textOf(await read(chunks))).toBe('one');
  });

  it('that is queued behind a person says so, and ends', () => {
    const queued = event('message_queued', { message_id: 'msg_1' });
    const waiting = [{ kind: 'approval', id: 'chc_1' }];
    expect(chunksOf([queued, mark(true, waiting)])).toMatchObject([
      { type: 'start', messageId: 'rsp_msg_1' },
      { type: 'data-waiting', data: waiting, transient: true },
      { type: 'finish' },
    ]);
  });

  it('that is refused is an error with its code', () => {
    const refused = event('message_refused', { message_id: 'msg_1', code: 'QUEUE_FULL', detail: 'too many' });
    expect(chunksOf([refused])).toMatchObject([
      { type: 'start' },
      { type: 'error', errorText: 'QUEUE_FULL: too many' },
    ]);
  });
});

describe('the text of a step (C3)', () => {
  it.each<[string, readonly Watched[], string]>([
    ['streamed in pieces', [delta('he', 0), delta('llo', 2)], 'hello'],
    ['streamed twice', [delta('he', 0), delta('hello', 0)], 'hello'],
    ['recorded only', [], 'hello'],
    ['streamed in part', [delta('he', 0)], 'hello'],
    ['with a hole in what was streamed', [delta('h', 0), delta('lo', 3)], 'hello'],
    ['of a second attempt', [delta('wrong', 0), delta('hel', 0, 2)], 'hello'],
    ['of a second attempt that was not streamed', [delta('wrong', 0)], 'hello'],
    ['of an attempt that came late', [delta('hel', 0, 2), delta('wrong', 0, 1)], 'hello'],
  ])('%s is the recorded one, once', async (_how, deltas, text) => {
    expect(await shown(accepted(), requested(), ...deltas, recorded(text), rest)).toBe(text);
  });

  it('follows its reasoning, also when only a part of that was streamed', async () => {
    const thinks = [delta('hm', 0, 1, 'reasoning'), delta('hello', 0)];
    const message = await read(
      chunksOf([accepted(), requested(), ...thinks, recorded('hello', { reasoning: 'hmmm' }), rest]),
    );
    expect(partsOf(message).map(({ type, text }) => [type, text])).toEqual([
      ['reasoning', 'hmmm'],
      ['text', 'hello'],
    ]);
  });

  it('stays the first attempt’s no longer than that: tools of earlier steps stay', async () => {
    const call = { tool_call_id: 'call_1', operation: 'work', arguments: { n: 1 } };
    const settled = event('tool_call_settled', {
      tool_call_id: 'call_1',
      outcome: 'result',
      content: [{ type: 'text', text: 'ok' }],
    });
    const frames = [accepted(), requested(), recorded('first'), event('tool_call_requested', call), settled];
    const message = await read(
      chunksOf([
        ...frames,
        requested('cmp_2'),
        delta('wrong', 0, 1, 'text', 'cmp_2'),
        delta('right', 0, 2, 'text', 'cmp_2'),
        recorded('right', {}, 'cmp_2'),
        rest,
      ]),
    );
    expect(partsOf(message).map(({ type, text, output }) => [type, text ?? output])).toEqual([
      ['text', 'first'],
      ['dynamic-tool', 'ok'],
      ['text', 'right'],
    ]);
  });
});

describe('calls', () => {
  const settled = (outcome: string, text: string): Watched =>
    event('tool_call_settled', { tool_call_id: 'call_1', outcome, content: [{ type: 'text', text }] });

  it.each([
    ['result', 'fine', { state: 'output-available', output: 'fine' }],
    ['error', 'Error: no', { state: 'output-error', errorText: 'no' }],
    ['timed_out', 'Error: late', { state: 'output-error', errorText: 'late' }],
    ['denied', 'Error: denied', { state: 'output-denied' }],
  ])('C4 with the outcome %s reach a client that has not seen the call', async (outcome, text, part) => {
    const message = await read(chunksOf([accepted(), requested(), recorded(''), settled(outcome, text), rest]));
    expect(partsOf(message)).toMatchObject([{ type: 'dynamic-tool', toolCallId: 'call_1', ...part }]);
  });
});

describe('a response that begins anywhere, with text that comes at any time (C4, C6)', () => {
  const about = (id: number): Fields => ({ tool_call_id: `call_${id}`, operation: `work_${id}` });
  const call = (id: number): Watched => event('tool_call_requested', { ...about(id), arguments: { n: id } });
  const settled = (id: number): Watched =>
    event('tool_call_settled', { ...about(id), outcome: 'result', content: [{ type: 'text', text: `ok ${id}` }] });
  const choice = { choice_id: 'chc_1', kind: 'approval', tool_call_id: 'call_2' };
  const events = [
    ...[accepted(), requested(), recorded('I look. ', { reasoning: 'hm' }), call(1), call(2)],
    ...[event('choice_requested', choice), settled(1), event('choice_settled', { ...choice, decision: 'allow' })],
    ...[settled(2), requested('cmp_2'), recorded('done', {}, 'cmp_2')],
  ];
  const streams = [
    { after: 2, deltas: [delta('hm', 0, 1, 'reasoning'), delta('I look. ', 0)] },
    { after: 10, deltas: [delta('done', 0, 1, 'text', 'cmp_2')] },
  ];

  /** What follows the first `cut` events, where each completion's text comes `lags` frames after its request. */
  function response(cut: number, lags: readonly number[]): readonly Chunk[] {
    const encoder = new AiSdkEncoder(
      cut === 0 ? beginning : { ...beginning, awaits: null, messageId: 'rsp_msg_1', turnId: 'msg_1' },
    );
    for (const each of events.slice(0, cut)) if (each.frame === 'event') encoder.pass(each.event);
    const due = streams.map(({ after, deltas }, at) => ({ place: Math.max(cut, after + (lags[at] ?? 0)), deltas }));
    const chunks: Chunk[] = [];
    for (let place = cut; place <= events.length; place += 1) {
      for (const { deltas } of due.filter((each) => each.place === place))
        for (const each of deltas) chunks.push(...encoder.take(each));
      chunks.push(...encoder.take(events[place] ?? rest));
    }
    expect(encoder.isOver).toBe(true);
    return chunks;
  }

  /** Calls whose outcome or question comes without their input in what a client has then. */
  function orphans(chunks: readonly Chunk[]): readonly string[] {
    const known = new Set<string>();
    let inStep: string[] = [];
    return chunks.flatMap((chunk) => {
      if (chunk.type === 'start-step') inStep = [];
      if (chunk.type === 'reset-step') for (const id of inStep) known.delete(id);
      if (chunk.type === 'tool-input-available') inStep.push(chunk.toolCallId);
      if (chunk.type === 'tool-input-available') known.add(chunk.toolCallId);
      const needs = chunk.type.startsWith('tool-output') || chunk.type === 'tool-approval-request';
      return needs && 'toolCallId' in chunk && !known.has(chunk.toolCallId) ? [chunk.toolCallId] : [];
    });
  }

  const allLags = events.slice(1).flatMap((_, first) => [0, 1, 2].map((second) => [first, second]));

  it.each(events.map((_, cut) => cut))(
    'after %s events shows each call with its input, then its outcome',
    async (cut) => {
      for (const lags of allLags) {
        const chunks = response(cut, lags);
        expect(orphans(chunks), String(lags)).toEqual([]);
        const parts = partsOf(await read(chunks));
        const ends = [6, 8].flatMap((place, at) => (cut <= place ? [at + 1] : []));
        const tools = parts.filter(({ type }) => type === 'dynamic-tool');
        expect(tools, String(lags)).toHaveLength(ends.length);
        for (const id of ends)
          expect(tools, String(lags)).toContainEqual(
            expect.objectContaining({
              toolName: `work_${id}`,
              state: 'output-available',
              input: { n: id },
              output: `ok ${id}`,
            }),
          );
        const texts = parts.flatMap(({ type, text }) => (type === 'dynamic-tool' ? [] : [text]));
        expect(texts, String(lags)).toEqual(cut <= 2 ? ['hm', 'I look. ', 'done'] : ['done']);
      }
    },
  );
});

describe('a history', () => {
  it('has each turn’s answer once, also after a failure, and the newest messages only', () => {
    const history = new UiHistory(2, (sha256) => `/blobs/${sha256}`);
    const failed = event('completion_failed', { completion_id: 'cmp_1', code: 'MODEL_FAILED', detail: 'down' });
    const events = [
      ...[
        accepted('msg_0'),
        event('completion_requested', { completion_id: 'cmp_0' }, 'msg_0'),
        recorded('old', {}, 'cmp_0'),
      ],
      ...[accepted('msg_1'), requested(), failed, requested('cmp_2'), recorded('new', {}, 'cmp_2')],
    ];
    for (const each of events) if (each.frame === 'event') history.take(each.event);
    const messages = history.messages(rest as Extract<Watched, { readonly frame: 'mark' }>);
    expect(messages.map(({ id, role }) => [id, role])).toEqual([
      ['msg_1', 'user'],
      ['rsp_msg_1', 'assistant'],
    ]);
    expect(messages[1]?.parts.filter(({ type }) => type === 'text')).toMatchObject([{ text: 'new', state: 'done' }]);
  });
});
