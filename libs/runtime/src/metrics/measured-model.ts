// Times the attempts at completions, and counts their tokens, at the port of the model.
//
// Invariants:
//   M1. An attempt is recorded when its stream ends: at its last part, or with the code of its failure. A stream that
//       its reader leaves before that was broken off.
//   M2. The model's name is the one that is sent to the provider; a provider without names is its own.
//   M3. The provider's name is that of the GenAI conventions, as in spans.
import { type BoundedMap, createBoundedMap } from '@dormouse/collections';
import { type Metrics, type Model, ModelFault, type ModelPart } from '@dormouse/ports';
import type { Usage } from '@dormouse/thread';
import { providerName } from '../tracing/attributes.ts';
import type { Measuring } from './measuring.ts';

export interface AskedModel {
  readonly provider: string;
  readonly name: string;
}

/** Which model was asked, by completion, until its end is committed; nothing where another process asked. */
export type AskedModels = BoundedMap<AskedModel>;

const askedMax = 10_000;
const brokenOff = 'broken_off';

export const createAskedModels = (): AskedModels => createBoundedMap<AskedModel>(askedMax);

export function measuredModel(model: Model, measuring: Measuring, asked: AskedModels): Model {
  return {
    complete: (request) => {
      const { provider, name } = request.model;
      const by: AskedModel = { provider: providerName(provider), name: name === '' ? provider : name }; // (M2, M3)
      asked.set(request.completionId, by);
      return { [Symbol.asyncIterator]: () => new MeasuredParts(model.complete(request), measuring, by) };
    },
  };
}

/** The parts of one attempt, passed on as they come. */
class MeasuredParts implements AsyncIterator<ModelPart> {
  readonly #parts: AsyncIterator<ModelPart>;
  readonly #measuring: Measuring;
  readonly #by: AskedModel;
  readonly #from: number;
  #isFirst = true;
  #isOver = false;

  constructor(parts: AsyncIterable<ModelPart>, measuring: Measuring, by: AskedModel) {
    this.#parts = parts[Symbol.asyncIterator]();
    this.#measuring = measuring;
    this.#by = by;
    this.#from = measuring.now();
  }

  next(): Promise<IteratorResult<ModelPart>> {
    return this.#parts.next().then(this.#took, this.#failed);
  }

  return(): Promise<IteratorResult<ModelPart>> {
    this.#end(brokenOff);
    return this.#parts.return?.() ?? Promise.resolve({ done: true, value: undefined });
  }

  readonly #took = (step: IteratorResult<ModelPart>): IteratorResult<ModelPart> => {
    if (step.done === true) this.#end(brokenOff);
    else this.#part(step.value);
    return step;
  };

  readonly #failed = (error: unknown): never => {
    this.#end(error instanceof ModelFault ? error.code : 'UNAVAILABLE');
    throw error;
  };

  #part(part: ModelPart): void {
    const { metrics } = this.#measuring;
    const { provider, name } = this.#by;
    if (this.#isFirst)
      metrics.histogram('gen_ai.client.operation.time_to_first_chunk', provider, name).record(this.#seconds());
    this.#isFirst = false;
    if (part.part !== 'finish') return;
    countTokens(metrics, this.#by, part.usage);
    this.#end('');
  }

  /** (M1) */
  #end(failure: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { provider, name } = this.#by;
    this.#measuring.metrics
      .histogram('gen_ai.client.operation.duration', provider, name, failure)
      .record(this.#seconds());
  }

  #seconds(): number {
    return (this.#measuring.now() - this.#from) / 1_000;
  }
}

function countTokens(metrics: Metrics, { provider, name }: AskedModel, { inputTokens, outputTokens }: Usage): void {
  metrics.counter('gen_ai.client.inference.usage.input_tokens', provider, name).add(inputTokens);
  metrics.counter('gen_ai.client.inference.usage.output_tokens', provider, name).add(outputTokens);
  metrics.histogram('gen_ai.client.token.usage', provider, name, 'input').record(inputTokens);
  metrics.histogram('gen_ai.client.token.usage', provider, name, 'output').record(outputTokens);
}
