import { offTracing } from '../../tracing/tracing.ts';
import { createManualClock, createSeededEntropy, type ManualClock } from '@dormouse/adapter-memory';
import {
  type Delta,
  Fault,
  type LogFields,
  type Logger,
  type ModelPart,
  ModelFault,
  type ModelRequest,
  type Retrying,
  tenantId,
} from '@dormouse/ports';
import { inputIds, unopenedThread } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { defaultProcessorSettings, type ProcessorSettings } from '../settings.ts';
import { calls, key, type Play, says } from '../spec/processor-rig.ts';
import { TranscriptWindow } from '../state/transcript-window.ts';
import type { CompletionOrder } from './completion-request.ts';
import type { Holding } from '../../tenants/holding.ts';
import { type CompletionRunner, createCompletionRunner, type OrderSource } from './completion-runner.ts';
import { type CompletionEnd, CompletionRun, heldBack } from './completion-run.ts';

const settings: ProcessorSettings = {
  ...defaultProcessorSettings,
  modelStartTimeoutMs: 10_000,
  modelStallTimeoutMs: 20_000,
  modelRetryTotalMs: 60_000,
  completionMsMax: 300_000,
};

interface Scene {
  readonly clock: ManualClock;
  readonly runner: CompletionRunner;
  readonly run: CompletionRun;
  readonly answers: CompletionEnd[];
  readonly deltas: Delta[];
  readonly requests: ModelRequest[];
  readonly retries: Retrying[];
  readonly warnings: LogFields[];
}

/** Plays one of these per attempt, the last one for ever. */
function scene(
  plays: readonly Play[],
  options: Partial<ProcessorSettings> & { readonly registryDown?: boolean; readonly holding?: Holding } = {},
): Scene {
  const clock = createManualClock();
  const deltas: Delta[] = [];
  const answers: CompletionEnd[] = [];
  const requests: ModelRequest[] = [];
  const retries: Retrying[] = [];
  const warnings: LogFields[] = [];
  const logger: Logger = { info: () => {}, warn: (_event, fields = {}) => void warnings.push(fields), error: () => {} };
  const runner = createCompletionRunner({
    tracing: offTracing,
    model: {
      complete: (request) => {
        const play = plays[Math.min(requests.length, plays.length - 1)];
        requests.push(request);
        if (play === undefined) throw new Error('nothing to play');
        return play(request);
      },
    },
    feed: {
      publish: (_key, hint) => {
        if (hint.hint === 'delta') deltas.push(hint.delta);
        if (hint.hint === 'retrying') retries.push(hint.retrying);
      },
      subscribe: async () => () => {},
      soFar: async () => [],
      retrying: async () => null,
    },
    clock,
    entropy: createSeededEntropy(1),
    logger,
    settings: { ...settings, ...options },
    ...(options.holding && { holding: options.holding }),
    buildRequest: async (order, signal) => {
      if (options.registryDown) throw new Fault('UNAVAILABLE', 'registry is down');
      const prompt = { length: 0, last: async () => [], all: async () => [] };
      const model = {
        provider: 'x',
        name: '',
        baseUrl: 'https://user:word@models.example:8443/v1?key=k',
        apiKeySecret: null,
        contextWindowTokens: 1,
        outputTokensMax: null,
        images: false,
        parameters: {},
      };
      const tools = [{ name: 'weather', description: '', inputSchema: {} }];
      return { ...key, completionId: order.completionId, ordinal: 0, model, instructions: '', prompt, tools, signal };
    },
    validateArguments: async (_definition, args) => ('city' in args ? null : '/city is required'),
    endpointOf: async ({ tenant }) => tenant,
    answerId: (completionId) => inputIds.completion(completionId),
  });
  const run = new CompletionRun(key, 'cmp_1', null, clock.now());
  runner.start(run, sourceOf('cmp_1'), (answer) => void answers.push(answer));
  return { clock, runner, run, answers, deltas, requests, retries, warnings };
}

const orderOf = (completionId: string): CompletionOrder => ({
  completionId,
  thread: unopenedThread(tenantId('acme'), 't'),
  messages: new TranscriptWindow(0, 1),
  promptLength: 0,
});

const sourceOf = (completionId: string): OrderSource => ({
  atHand: orderOf(completionId),
  read: async () => orderOf(completionId),
});

const fails = (retryable: boolean, retryAfterMs: number | null = null): Play =>
  async function* (): AsyncGenerator<ModelPart> {
    yield { part: 'text', text: 'half' };
    throw new ModelFault({ code: 'MODEL_FAILED', detail: 'overloaded', retryable, status: 503, retryAfterMs });
  };

/** Gives no part and ignores its signal. */
const hangs = (after: readonly ModelPart[] = []): Play =>
  async function* () {
    yield* after;
    await new Promise(() => {});
  };

const notHeld: Holding = {
  holds: () => Promise.resolve(false),
  holdsAgent: () => Promise.resolve(false),
  holdForServer: () => Promise.resolve(),
};

describe('a completion of a paused agent', () => {
  it('A6 is not asked', async () => {
    const asked: (string | undefined)[] = [];
    const holdsAgent = async (_key: unknown, agent?: string): Promise<boolean> => asked.push(agent) > 0;
    const { runner, clock, answers, requests } = scene([says('fine')], { holding: { ...notHeld, holdsAgent } });
    await clock.advance(1_000);
    expect([answers, requests.length, runner.inFlight, asked.length]).toEqual([[heldBack], 0, 0, 1]);
  });

  it('A7 is broken off in the middle of its answer, and gives none', async () => {
    let isPaused = false;
    const holding = { ...notHeld, holdsAgent: () => Promise.resolve(isPaused) };
    const { runner, clock, answers, requests } = scene([hangs([{ part: 'text', text: 'half' }])], { holding });
    await clock.advance(5_000);
    expect([requests.length, answers]).toEqual([1, []]);
    isPaused = true;
    await clock.advance(2_000);
    expect([answers, runner.inFlight]).toEqual([[heldBack], 0]);
    expect(requests[0]?.signal.aborted).toBe(true);
  });

  it('A6 K4 that is orphaned then is not adopted: its lane asks again', async () => {
    let isPaused = false;
    const holding = { ...notHeld, holdsAgent: () => Promise.resolve(isPaused) };
    const { runner, run, clock, answers } = scene([hangs()], { holding });
    await clock.advance(1_000);
    runner.leave(run);
    isPaused = true;
    await clock.advance(2_000);
    isPaused = false;
    expect([runner.adopt(key, 'cmp_1', () => {}), answers]).toEqual([null, []]);
  });

  it('A7 runs on where the store cannot say, and is looked at again', async () => {
    let isAway = false;
    const holdsAgent = (): Promise<boolean> =>
      isAway ? Promise.reject(new Fault('UNAVAILABLE', 'away')) : Promise.resolve(false);
    const { clock, answers, requests } = scene([hangs()], { holding: { ...notHeld, holdsAgent } });
    await clock.advance(1_000);
    isAway = true;
    await clock.advance(5_000);
    expect([requests.length, answers]).toEqual([1, []]);
  });
});

describe('a completion of a suspended tenant', () => {
  it('A6 is not asked: it ends without an answer, and gives its slot back', async () => {
    const holding = { ...notHeld, holds: () => Promise.resolve(true) };
    const { runner, clock, answers, requests } = scene([says('fine')], { holding });
    await clock.advance(1_000);
    expect(answers).toEqual([heldBack]);
    expect([requests.length, runner.inFlight, runner.waiting]).toEqual([0, 0, 0]);
  });

  it('A6 is not asked again after an attempt that failed', async () => {
    let isSuspended = false;
    const holding = { ...notHeld, holds: () => Promise.resolve(isSuspended) };
    const { clock, answers, requests } = scene([fails(true, 5_000), says('fine')], { holding });
    await clock.advance(1_000);
    isSuspended = true;
    await clock.advance(10_000);
    expect([requests.length, answers]).toEqual([1, [heldBack]]);
  });

  it('is asked again, and fails at last, where the tenant cannot be looked up', async () => {
    const holding = { ...notHeld, holds: () => Promise.reject(new Fault('UNAVAILABLE', 'away')) };
    const { clock, answers, requests } = scene([says('fine')], { holding, modelRetryTotalMs: 20_000 });
    await clock.advance(60_000);
    expect(answers).toMatchObject([{ kind: 'CompletionFailure', retryable: true }]);
    expect(requests).toEqual([]);
  });
});

describe('a completion without a slot', () => {
  it('waits with nothing at hand, says so, and reads its order when it has one', async () => {
    const { runner, run, clock, deltas, requests } = scene([hangs(), says('fine')], { completionsInFlightMax: 1 });
    await clock.advance(1_000);
    const source = sourceOf('cmp_2');
    const read: string[] = [];
    const answers: CompletionEnd[] = [];
    const second = new CompletionRun(key, 'cmp_2', null, clock.now());
    const reading = { ...source, read: async () => (read.push('order'), orderOf('cmp_2')) };
    runner.start(second, reading, (answer) => void answers.push(answer));
    await clock.advance(1_000);
    expect([runner.waiting, reading.atHand, read.length, requests.length]).toEqual([1, null, 0, 1]);
    expect(deltas).toMatchObject([{ completionId: 'cmp_2', kind: 'slot', attempt: 1, text: String(second.startedAt) }]);
    run.abort();
    await clock.advance(0);
    expect(answers).toMatchObject([{ kind: 'CompletionResult', text: 'fine' }]);
    expect([runner.waiting, read.length]).toEqual([0, 1]);
    expect(deltas[1]).toMatchObject({ completionId: 'cmp_2', kind: 'slot', attempt: 1, text: '' });
  });

  it('is given the slot of one that waits to be tried again', async () => {
    const { runner, clock, answers } = scene([fails(true, 20_000), says('fine')], { completionsInFlightMax: 1 });
    const others: CompletionEnd[] = [];
    await clock.advance(0);
    runner.start(new CompletionRun(key, 'cmp_2', null, clock.now()), sourceOf('cmp_2'), (answer) =>
      others.push(answer),
    );
    await clock.advance(1_000);
    expect([answers.length, others.length]).toEqual([0, 1]);
    await clock.advance(20_000);
    expect(answers).toHaveLength(1);
  });

  it('fails, and may be retried, where too many wait; one that waits ends within its hard limit', async () => {
    const { runner, clock } = scene([hangs([{ part: 'text', text: 'a' }])], {
      completionsInFlightMax: 1,
      completionsWaitingMax: 1,
      modelStallTimeoutMs: 10 ** 9,
      completionMsMax: 50_000,
    });
    const answers: CompletionEnd[] = [];
    for (const id of ['cmp_2', 'cmp_3'])
      runner.start(new CompletionRun(key, id, null, clock.now()), sourceOf(id), (answer) => answers.push(answer));
    await clock.advance(0);
    expect(answers).toMatchObject([{ completionId: 'cmp_3', code: 'MODEL_FAILED', retryable: true }]);
    await clock.advance(52_000);
    expect(answers.map((answer) => answer !== heldBack && answer.completionId)).toContain('cmp_2');
    expect(runner.inFlight).toBe(0);
  });
});

describe('an answer that is more than a thread takes', () => {
  const calling = (count: number, providerCallId: string, operation = 'weather'): Play =>
    async function* () {
      for (let call = 0; call < count; call++)
        yield { part: 'tool_call', providerCallId, operation, arguments: '{"city":"Oslo"}' };
      yield { part: 'finish', reason: 'tool_calls', usage: { inputTokens: 3, outputTokens: 2 } };
    };

  it('fails with a code of its own above 128 calls, without reading on', async () => {
    let read = 0;
    const endless: Play = async function* () {
      for (;;) {
        read += 1;
        yield { part: 'tool_call', providerCallId: 'p', operation: 'weather', arguments: '{}' };
      }
    };
    const { clock, answers } = scene([endless]);
    await clock.advance(0);
    expect(answers).toMatchObject([{ kind: 'CompletionFailure', code: 'TOO_MANY_CALLS', retryable: false }]);
    expect(read).toBe(129);
    const most = scene([calling(128, 'p')]);
    await most.clock.advance(0);
    expect(most.answers).toMatchObject([{ kind: 'CompletionResult', toolCalls: { length: 128 } }]);
  });

  it('counts ids and names as what was said', async () => {
    for (const play of [calling(1, 'x'.repeat(3_000_000)), calling(1, 'p', 'x'.repeat(3_000_000))]) {
      const { clock, answers } = scene([play]);
      await clock.advance(0);
      expect(answers).toMatchObject([{ kind: 'CompletionFailure', code: 'MODEL_FAILED', retryable: false }]);
    }
  });

  it('leaves out a call id that no invocation carries, and cuts a name that no tool has', async () => {
    const { clock, answers } = scene([calling(1, 'x'.repeat(201), 'y'.repeat(10_000))]);
    await clock.advance(0);
    const toolCalls = [{ providerCallId: '', operation: `${'y'.repeat(128)}…` }];
    expect(answers).toMatchObject([{ kind: 'CompletionResult', toolCalls }]);
    const surrogate = scene([calling(1, 'half \ud800', 'half \ud800')]);
    await surrogate.clock.advance(0);
    expect(surrogate.answers).toMatchObject([{ toolCalls: [{ providerCallId: '', operation: 'half \ufffd' }] }]);
  });
});

describe('a completion whose lane is gone', () => {
  const slowly: Play = async function* () {
    await pause.clock?.sleep(5_000);
    yield { part: 'text', text: 'late' };
    yield { part: 'finish', reason: 'stop', usage: { inputTokens: 3, outputTokens: 2 } };
  };
  const pause: { clock: ManualClock | null } = { clock: null };

  async function left(
    afterMs: number,
    play = slowly,
  ): Promise<ReturnType<typeof scene> & { readonly heard: CompletionEnd[] }> {
    const at = scene([play]);
    pause.clock = at.clock;
    await at.clock.advance(1_000);
    at.runner.leave(at.run);
    await at.clock.advance(afterMs);
    return { ...at, heard: [] };
  }

  it('goes on, and answers to the lane that owes it again', async () => {
    const { runner, run, clock, heard, answers, requests } = await left(1_000);
    const old = run.hold;
    expect(runner.adopt(key, 'cmp_2', () => {})).toBeNull();
    expect(runner.adopt({ ...key, thread: 'other' }, 'cmp_1', () => {})).toBeNull();
    expect(runner.adopt(key, 'cmp_1', (_run, answer) => heard.push(answer))).toBe(run);
    expect(run.hold).not.toBe(old);
    expect(runner.adopt(key, 'cmp_1', () => {})).toBeNull();
    await clock.advance(5_000);
    expect(heard).toMatchObject([{ kind: 'CompletionResult', text: 'late' }]);
    expect([answers.length, requests.length]).toEqual([0, 1]);
  });

  it('keeps an answer that comes while nobody listens', async () => {
    const { runner, clock, heard } = await left(10_000);
    runner.adopt(key, 'cmp_1', (_run, answer) => heard.push(answer));
    await clock.advance(0);
    expect(heard).toMatchObject([{ kind: 'CompletionResult', text: 'late' }]);
  });

  it('says nothing to people meanwhile, and everything again to those who watch when it is owed again', async () => {
    const { runner, clock, deltas, heard } = await left(2_000, async function* () {
      yield { part: 'reasoning', text: 'hm' };
      yield { part: 'tool_input', index: 0, text: '{"ci' };
      yield { part: 'text', text: 'one ' };
      await pause.clock?.sleep(2_000);
      yield { part: 'tool_input', index: 0, text: 'ty"' };
      yield { part: 'text', text: 'two ' };
      await pause.clock?.sleep(2_000);
      yield { part: 'text', text: 'three' };
      throw new ModelFault({
        code: 'MODEL_FAILED',
        detail: 'overloaded',
        retryable: true,
        status: 503,
        retryAfterMs: 1,
      });
    });
    expect(deltas.map(({ text }) => text)).toEqual(['hm', '{"ci', 'one ']);
    runner.adopt(key, 'cmp_1', (_run, answer) => heard.push(answer));
    await clock.advance(2_000);
    expect(deltas.slice(3, 7).map(({ attempt, kind, offset, text }) => [attempt, kind, offset, text])).toEqual([
      [2, 'reasoning', 0, 'hm'],
      [2, 'text', 0, 'one two '],
      [2, 'tool_input', 0, '{"city"'],
      [2, 'text', 8, 'three'],
    ]);
    expect(deltas[7]).toMatchObject({ attempt: 3, kind: 'reasoning', offset: 0, text: 'hm' });
  });

  it('is given up at once while it waits for a slot: nothing was paid for it, and nobody else is kept waiting', async () => {
    const { runner, clock, run } = scene([hangs()], { completionsInFlightMax: 1 });
    const second = new CompletionRun(key, 'cmp_2', null, clock.now());
    runner.start(second, sourceOf('cmp_2'), () => {});
    await clock.advance(1_000);
    expect(runner.waiting).toBe(1);
    runner.leave(run);
    runner.leave(second);
    expect(runner.waiting).toBe(0);
    expect(runner.adopt(key, 'cmp_2', () => {})).toBeNull();
    expect(runner.adopt(key, 'cmp_1', () => {})).toBe(run);
  });

  it('is broken off when nobody asks for it in time, and at the end', async () => {
    const late = await left(31_000, hangs());
    expect([late.run.state, late.runner.adopt(key, 'cmp_1', () => {})]).toEqual(['aborted', null]);
    const answered = await left(31_000);
    expect(answered.runner.adopt(key, 'cmp_1', () => {})).toBeNull();
    const early = await left(1_000);
    early.runner.close();
    expect([early.run.state, early.runner.adopt(key, 'cmp_1', () => {})]).toEqual(['aborted', null]);
  });
});

describe('a completion', () => {
  it('V2 becomes the input m:<completion>, with text, deltas at their offsets and usage', async () => {
    const { clock, answers, deltas } = scene([
      async function* () {
        yield { part: 'reasoning', text: 'hm' };
        yield { part: 'text', text: 'sun' };
        yield { part: 'text', text: 'ny' };
        yield { part: 'tool_input', index: 1, text: '{"a' };
        yield { part: 'tool_input', index: 1, text: '"}' };
        yield { part: 'finish', reason: 'stop', usage: { inputTokens: 3, outputTokens: 2 } };
      },
    ]);
    await clock.advance(0);
    expect(answers).toMatchObject([
      { kind: 'CompletionResult', id: 'm:cmp_1', text: 'sunny', reasoning: 'hm', usage: { inputTokens: 3 } },
    ]);
    expect(
      deltas.map(({ kind, index, offset, text, attempt }) => `${attempt} ${kind}${index}@${offset} ${text}`),
    ).toEqual(['1 reasoning0@0 hm', '1 text0@0 sun', '1 text0@3 ny', '1 tool_input1@0 {"a', '1 tool_input1@3 "}']);
  });

  it('tries again after a retryable failure, as a new attempt that replaces what was shown', async () => {
    const { clock, answers, deltas } = scene([fails(true), says('fine')]);
    await clock.advance(2_000);
    expect(answers).toMatchObject([{ kind: 'CompletionResult', text: 'fine' }]);
    expect(deltas.map(({ attempt, offset, text }) => `${attempt}@${offset} ${text}`)).toEqual(['1@0 half', '2@0 fine']);
  });

  it('says to people and to the log which host failed, why, and when it is asked again', async () => {
    const { clock, retries, warnings } = scene([fails(true, 3_000), fails(true, 5_000), says('fine')]);
    const at = clock.now();
    await clock.advance(20_000);
    const failed = { completionId: 'cmp_1', code: 'MODEL_FAILED', detail: 'overloaded', host: 'models.example:8443' };
    expect(retries).toEqual([
      { ...failed, attempt: 1, failedAt: at, nextAt: at + 3_000, since: at },
      { ...failed, attempt: 2, failedAt: at + 3_000, nextAt: at + 8_000, since: at },
    ]);
    const line = {
      ...key,
      completion: 'cmp_1',
      code: 'MODEL_FAILED',
      host: 'models.example:8443',
      reason: 'overloaded',
    };
    expect(warnings).toEqual([
      { ...line, attempt: 1, waitMs: 3_000 },
      { ...line, attempt: 2, waitMs: 5_000 },
    ]);
    expect(JSON.stringify([retries, warnings])).not.toMatch(/word|key=k/);
  });

  it('says it again where its thread is taken over, and not to people while nobody owes it', async () => {
    const { clock, runner, run, retries } = scene([fails(true, 1_500), fails(true, 20_000), says('fine')]);
    await clock.advance(1_000);
    runner.leave(run);
    await clock.advance(1_000);
    expect(retries.map(({ attempt }) => attempt)).toEqual([1]);
    runner.adopt(key, 'cmp_1', () => {});
    await clock.advance(0);
    expect(retries.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  it("honours the provider's own wish for the delay", async () => {
    const { clock, answers } = scene([fails(true, 30_000), says('fine')]);
    await clock.advance(29_000);
    expect(answers).toEqual([]);
    await clock.advance(1_500);
    expect(answers).toMatchObject([{ kind: 'CompletionResult' }]);
  });

  it('V2 fails under the same id, at once when it is useless to try again and otherwise when the time for retries is over', async () => {
    const refused = scene([fails(false)]);
    await refused.clock.advance(0);
    expect(refused.answers).toMatchObject([
      { kind: 'CompletionFailure', id: 'm:cmp_1', code: 'MODEL_FAILED', retryable: false },
    ]);
    const down = scene([fails(true)]);
    await down.clock.advance(61_000);
    expect(down.answers).toMatchObject([{ kind: 'CompletionFailure', id: 'm:cmp_1', retryable: true }]);
    expect(down.requests.length).toBeGreaterThan(4);
  });

  it('gives up an attempt that does not start, or stalls, also when the model ignores its signal', async () => {
    const { clock, answers, requests } = scene([hangs(), hangs([{ part: 'text', text: 'a' }]), says('fine')]);
    await clock.advance(9_000);
    expect(requests.length).toBe(1);
    await clock.advance(5_000);
    expect(requests.length).toBe(2);
    expect(requests[0]?.signal.aborted).toBe(true);
    expect(requests[1]?.signal.aborted).toBe(false);
    await clock.advance(30_000);
    expect(answers).toMatchObject([{ kind: 'CompletionResult', text: 'fine' }]);
  });

  it('ends within its hard limit, whatever happens: it holds deliveries', async () => {
    const { clock, answers } = scene([hangs([{ part: 'text', text: 'a' }])], {
      modelStallTimeoutMs: 10 ** 9,
      completionMsMax: 50_000,
    });
    await clock.advance(52_000);
    expect(answers).toMatchObject([{ kind: 'CompletionFailure', retryable: true }]);
  });

  it('waits for a store that is down as for a model that is', async () => {
    const { clock, answers } = scene([says('never asked')], { registryDown: true });
    await clock.advance(30_000);
    expect(answers).toEqual([]);
    await clock.advance(40_000);
    expect(answers).toMatchObject([{ kind: 'CompletionFailure', code: 'MODEL_FAILED', retryable: true }]);
  });

  it('keeps what was said for whoever interrupts it, and answers nothing after that', async () => {
    const { clock, run, answers, requests } = scene([hangs([{ part: 'text', text: 'I was about' }])]);
    await clock.advance(0);
    expect(run.streamed()).toEqual({ completionId: 'cmp_1', text: 'I was about', reasoning: '' });
    run.abort();
    await clock.advance(400_000);
    expect(requests[0]?.signal.aborted).toBe(true);
    expect(answers).toEqual([]);
  });

  it('breaks off a completion that grows too large, and a stream without an end is a failure', async () => {
    const large = scene([says('x'.repeat(2_000))], { completionBytesMax: 1_000 });
    await large.clock.advance(0);
    expect(large.answers).toMatchObject([{ kind: 'CompletionFailure', retryable: false }]);
    const endless = scene([
      async function* () {
        yield { part: 'text', text: 'and then' };
      },
    ]);
    await endless.clock.advance(90_000);
    expect(endless.answers).toMatchObject([{ kind: 'CompletionFailure', detail: 'the stream ended without an end' }]);
  });

  it('counts arguments once, whether they were streamed or not', async () => {
    const args = JSON.stringify({ city: 'x'.repeat(380) });
    const play: Play = async function* () {
      for (const index of [0, 1]) {
        yield { part: 'tool_input', index, text: args };
        yield { part: 'tool_call', providerCallId: `p${index}`, operation: 'weather', arguments: args };
      }
      yield { part: 'finish', reason: 'tool_calls', usage: { inputTokens: 1, outputTokens: 1 } };
    };
    const { clock, answers } = scene([play], { completionBytesMax: 1_000 });
    await clock.advance(0);
    expect(answers).toMatchObject([{ kind: 'CompletionResult', toolCalls: [{}, {}] }]);
    const tooMuch = scene([play], { completionBytesMax: 700 });
    await tooMuch.clock.advance(0);
    expect(tooMuch.answers).toMatchObject([{ kind: 'CompletionFailure' }]);
  });

  it.each([
    ['{"city":"Rome"}', { city: 'Rome' }, null],
    ['', {}, '/city is required'],
    ['[1]', {}, 'arguments are not a JSON object'],
    [
      '{"order": {"id": 1234567890123456789}}',
      {},
      'arguments: the number 1234567890123456789 cannot be passed on exactly; send it as a string if the tool takes one',
    ],
    ['{"city":', {}, /arguments: not valid JSON/],
    ['{"__proto__":{}}', {}, /prototype/],
    [`{"city":"${'x'.repeat(1_048_577)}"}`, {}, /larger than 1048576 bytes/],
  ])('judges the arguments %.20s', async (raw, args, problem) => {
    const { clock, answers } = scene([calls('weather', raw)]);
    await clock.advance(0);
    const [answer] = answers;
    if (answer === undefined || answer === heldBack || answer.kind !== 'CompletionResult') throw new Error('no result');
    expect(answer.toolCalls[0]?.arguments).toEqual(args);
    if (problem instanceof RegExp) expect(answer.toolCalls[0]?.problem).toMatch(problem);
    else expect(answer.toolCalls[0]?.problem).toBe(problem);
  });

  it('keeps no timer once nothing runs', async () => {
    const { clock, runner } = scene([says('ok')]);
    await clock.advance(5_000);
    expect(runner.inFlight).toBe(0);
  });
});
