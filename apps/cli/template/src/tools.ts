// The tools: a result, a subscription, a destructive tool, a question to a person. Change them into your own.
import { defineTool, failed, type Tool } from '@dormouse/tool-server';
import { z } from 'zod';

const prices = new Map([
  ['ACME', 120],
  ['INITECH', 45],
]);
const symbol = z.string().describe('Ticker symbol, such as ACME');

/** A result: a text, any other JSON value, or `failed` with what went wrong and what would help. */
const quote = defineTool(
  {
    name: 'quote',
    description: 'The current price of a stock, in dollars.',
    input: z.strictObject({ symbol }),
    annotations: { readOnly: true },
  },
  ({ symbol }) => {
    const price = prices.get(symbol);
    if (price === undefined) return failed(`there is no stock ${symbol}; there are ${[...prices.keys()].join(', ')}.`);
    return `${symbol} is at $${price}.`;
  },
);

/** A subscription: the call is confirmed at once, and its events wake the conversation later, hours or months. */
const watchPrice = defineTool(
  {
    name: 'watch_price',
    description: 'Says when the price of a stock has reached a limit.',
    input: z.strictObject({
      symbol,
      above: z.number().describe('In dollars'),
      everyMs: z.int().min(10).default(1_000),
    }),
  },
  async ({ symbol, above, everyMs }, context) => {
    const subscription = await context.subscribe({ text: `Watching ${symbol}.`, data: { symbol, above } });
    const timer = setInterval(() => {
      const price = (prices.get(symbol) ?? 0) + 1;
      prices.set(symbol, price); // this market only rises
      if (price <= above) return;
      clearInterval(timer);
      subscription.emit(`${symbol} is at $${price}, above $${above}.`, { associative: true, final: true });
    }, everyMs);
    subscription.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  },
);

/** Destructive: the runtime asks a person first, and sends the call at most once. */
const sellAll = defineTool(
  {
    name: 'sell_all',
    description: 'Sells all shares of a stock. This cannot be undone.',
    input: z.strictObject({ symbol }),
    annotations: { destructive: true },
  },
  ({ symbol }) => `All shares of ${symbol} are sold.`,
);

/** A choice: the tool asks the person, and waits for as long as that takes. */
const buy = defineTool(
  {
    name: 'buy',
    description: 'Buys shares of a stock; the person is asked how many.',
    input: z.strictObject({ symbol }),
  },
  async ({ symbol }, context) => {
    const amounts = [1, 10, 100];
    const choices = [...amounts.map((amount) => `${amount} of ${symbol}`), 'None'];
    const { index } = await context.choose({ prompt: `Buy ${symbol}?`, choices, default: amounts.length });
    const amount = amounts[index];
    return amount === undefined ? 'Nothing was bought.' : `Bought ${amount} of ${symbol}.`;
  },
);

export const tools: readonly Tool[] = [quote, watchPrice, sellAll, buy];
