// A model that is not deterministic: asked twice for one completion it answers twice, differently. Slow, parallel,
// wrong and failing at random; it stops calling tools after a few completions, so that every universe comes to rest.
import { type Clock, type Model, ModelFault, type ModelPart, type ModelRequest } from '@dormouse/ports';
import type { ModelMessage } from '@dormouse/thread';
import type { SeenPrompt } from '../../invariants/history.ts';
import type { Random } from '../world/random.ts';

export interface SimulatedModelDeps {
  readonly random: Random;
  /** The clock of the calling process: a dead process gets no more parts. */
  readonly clock: Clock;
  readonly seen: (prompt: SeenPrompt) => void;
  /** A number that nothing else in the universe has. */
  readonly fresh: () => number;
  readonly counted: (path: string) => void;
}

/** Completions of one thread after which it only talks. */
const talkativeAfter = 6;
const usage = { inputTokens: 10, outputTokens: 5 };

export function createSimulatedModel({ random, clock, seen, fresh, counted }: SimulatedModelDeps): Model {
  async function pause(): Promise<void> {
    await clock.sleep(10 + random.below(random.chance(0.2) ? 2_500 : 250));
  }

  function failure(): ModelFault {
    counted('model failed');
    const retryable = random.chance(0.6);
    return new ModelFault({
      code: retryable ? 'MODEL_FAILED' : 'MODEL_REFUSED',
      detail: 'as the seed wishes',
      retryable,
    });
  }

  function* words(): Generator<ModelPart> {
    for (let part = random.below(3); part >= 0; part -= 1) {
      yield { part: random.chance(0.15) ? 'reasoning' : 'text', text: `w${fresh()} ` };
      if (random.chance(0.01)) throw failure();
    }
  }

  function toolCalls(request: ModelRequest): readonly ModelPart[] {
    const count = request.ordinal >= talkativeAfter || random.chance(0.35) ? 0 : 1 + random.below(3);
    return Array.from({ length: count }, () => toolCall(request));
  }

  function toolCall(request: ModelRequest): ModelPart {
    const own = request.tools.filter(({ name }) => argumentsOfOurs(name) !== null);
    const offered = random.chance(0.12) ? own : request.tools.filter((tool) => !own.includes(tool));
    const operation = random.chance(0.06) || offered.length === 0 ? 'unheard_of' : nameOf(offered);
    const args = argumentsOfOurs(operation) ?? { n: fresh(), why: `for ${request.tenant}` };
    const text = random.chance(0.05) ? '{"n": ' : JSON.stringify(args);
    return { part: 'tool_call', providerCallId: `p${fresh()}`, operation, arguments: text };
  }

  /** Who has children talks to them more often than chance would have it. */
  function nameOf(offered: ModelRequest['tools']): string {
    const mail = offered.find(({ name }) => name === 'send_message_to_child');
    return mail !== undefined && children.length > 0 && random.chance(0.5) ? mail.name : random.pick(offered).name;
  }

  /** For a tool of the runtime; null for any other. */
  function argumentsOfOurs(name: string): object | null {
    switch (name) {
      case 'spawn_thread':
        return { instructions: `i${fresh()}` };
      case 'send_message_to_child':
        return { child_id: random.pick([...children, 'thr_nobody']), text: `p${fresh()}` };
      case 'report_to_parent':
      case 'close_thread':
        return { report: `c${fresh()}` };
      case 'set_title':
        return { title: `t${fresh()}` };
      case 'sleep':
        return { seconds: random.pick([-1, 0.2, 2]) };
      case 'sleep_until':
        return { at: random.pick(['2001-01-01T00:00:00Z', '9999-12-31T00:00:00Z', 'soon']) };
      case 'cancel_subscription':
        return { tool_call_id: random.pick([...subscribed, 'call_nobody']) };
      default:
        return null;
    }
  }

  /** What it has read of children and subscriptions in any prompt: some of it is another thread's. */
  const children: string[] = [];
  const subscribed: string[] = [];
  function read(text: string): void {
    for (const [, id] of text.matchAll(/child_id\\?":\\?"(thr_\w+)/g)) if (id !== undefined) children.push(id);
    for (const [, id] of text.matchAll(/interrupt:(call_\w+)/g)) if (id !== undefined) subscribed.push(id);
  }

  function hear({ tenant, thread, completionId }: ModelRequest, messages: readonly ModelMessage[]): void {
    read(JSON.stringify(messages.slice(-6)));
    seen({ key: { tenant, thread }, completionId, messages });
  }

  return {
    async *complete(request) {
      counted('model asked');
      const messages = random.chance(0.2) ? await lastOnly(request) : await request.prompt.all();
      if (messages !== null) hear(request, messages);
      await pause();
      if (random.chance(0.03)) await clock.sleep(30_000); // silent until its caller gives up
      if (random.chance(0.05)) throw failure();
      for (const part of words()) {
        yield part;
        if (random.chance(0.4)) await pause();
        if (request.signal.aborted) break;
      }
      const calls = toolCalls(request);
      yield* calls;
      await pause();
      yield finish(calls);
    },
  };
}

const finish = (calls: readonly ModelPart[]): ModelPart => ({
  part: 'finish',
  reason: calls.length > 0 ? 'tool_calls' : 'stop',
  usage,
});

/** Some models read only the end of the prompt: the runtime must not need the rest. */
async function lastOnly({ prompt }: ModelRequest): Promise<null> {
  await prompt.last(Math.min(2, prompt.length));
  return null;
}
