// A model that is not deterministic: asked twice for one completion it answers twice, differently. Slow, parallel, wrong and
// failing at random; it stops calling tools after a few completions, so that every universe comes to rest.
import { type Clock, type Model, ModelFault, type ModelPart, type ModelRequest } from '@dormouse/ports';
import type { SeenPrompt } from '../invariants/history.ts';
import type { Random } from './random.ts';

export interface SimulatedModelDeps {
  readonly random: Random;
  /** Of the process that asks: a dead process hears no more. */
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

  async function* words(request: ModelRequest): AsyncGenerator<ModelPart> {
    for (let part = random.below(3); part >= 0; part -= 1) {
      yield { part: random.chance(0.15) ? 'reasoning' : 'text', text: `w${fresh()} ` };
      if (random.chance(0.4)) await pause();
      if (random.chance(0.01)) throw failure();
      if (request.signal.aborted) return;
    }
  }

  function toolCall(request: ModelRequest): ModelPart {
    const operation =
      random.chance(0.06) || request.tools.length === 0 ? 'unheard_of' : random.pick(request.tools).name;
    const text = random.chance(0.05) ? '{"n": ' : JSON.stringify({ n: fresh(), why: `for ${request.tenant}` });
    return { part: 'tool_call', providerCallId: `p${fresh()}`, operation, arguments: text };
  }

  return {
    async *complete(request) {
      counted('model asked');
      const { tenant, thread, completionId } = request;
      const messages = random.chance(0.2) ? await lastOnly(request) : await request.prompt.all();
      if (messages !== null) seen({ key: { tenant, thread }, completionId, messages });
      await pause();
      if (random.chance(0.03)) await clock.sleep(30_000); // says nothing until somebody gives up
      if (random.chance(0.05)) throw failure();
      yield* words(request);
      const calls = request.ordinal >= talkativeAfter || random.chance(0.35) ? 0 : 1 + random.below(3);
      for (let call = 0; call < calls; call += 1) yield toolCall(request);
      await pause();
      yield { part: 'finish', reason: calls > 0 ? 'tool_calls' : 'stop', usage };
    },
  };
}

/** Some models look at the end of the prompt only: the runtime must not need the rest. */
async function lastOnly({ prompt }: ModelRequest): Promise<null> {
  await prompt.last(Math.min(2, prompt.length));
  return null;
}
