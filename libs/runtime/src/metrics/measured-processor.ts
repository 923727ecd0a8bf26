// The ports of the processor, measured.
import type { Clock, Model, Stores } from '@dormouse/ports';
import { measuredFeed } from './measured-feed.ts';
import { measuredInputs } from './measured-inputs.ts';
import { measuredLog } from './measured-log.ts';
import { createAskedModels, measuredModel } from './measured-model.ts';
import type { Measuring } from './measuring.ts';

interface ProcessorPorts extends Pick<Stores, 'log' | 'inputs' | 'feed'> {
  readonly model: Model;
}

export function measuredProcessorPorts(
  { log, inputs, feed, model }: ProcessorPorts,
  measuring: Measuring,
  clock: Pick<Clock, 'now'>,
): ProcessorPorts & { readonly measuring: Measuring } {
  const asked = createAskedModels();
  return {
    log: measuredLog(log, measuring),
    inputs: measuredInputs(inputs, measuring, clock),
    feed: measuredFeed(feed, measuring.metrics, asked),
    model: measuredModel(model, measuring, asked),
    measuring,
  };
}
