// What tokens cost, by the name of the model: an installation's own table. A model without an entry costs nothing.
import type { Usage } from '@dormouse/thread';

/** Micros (millionths of a unit of money) per million tokens. */
export interface ModelPrice {
  readonly inputMicros: number;
  readonly outputMicros: number;
}

export type ModelPrices = ReadonlyMap<string, ModelPrice>;

/** In whole micros, rounded up. */
export function priceOf(prices: ModelPrices, model: string, { inputTokens, outputTokens }: Usage): number {
  const price = prices.get(model);
  if (price === undefined) return 0;
  return Math.ceil((inputTokens * price.inputMicros + outputTokens * price.outputMicros) / 1_000_000);
}

const entry = /^([^=,\s]+)=(\d{1,12}):(\d{1,12})$/;

/** Of `MODEL=INPUT:OUTPUT`, separated by commas, in micros per million tokens; null for any other text. */
export function parseModelPrices(text: string): ModelPrices | null {
  const prices = new Map<string, ModelPrice>();
  for (const part of text.split(',').map((each) => each.trim())) {
    if (part === '') continue;
    const [, model, input, output] = entry.exec(part) ?? [];
    if (model === undefined) return null;
    prices.set(model, { inputMicros: Number(input), outputMicros: Number(output) });
  }
  return prices;
}
