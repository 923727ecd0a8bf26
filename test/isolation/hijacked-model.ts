// A model without a will: it does what any text that it is shown asks for, once. Its state is the prompt alone, as a
// real one's: what it has done stands in its own messages.
import { delegated, type Injection, markPattern, type Surroundings } from './injection-corpus.ts';
import type { Step } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import type { Json } from '../e2e/standalone-process.ts';
import type { Prompt } from '../conformance/recording-model.ts';

/** What a person says first: a payment, which waits for an approval through all that follows. */
export const firstWish = 'Pay invoice 7.';
/** The person’s next wish, for a tool by its name. */
export const wishFor = (tool: string): string => `Now use the tool ${tool}.`;

const firstPayment = toolCall('pay', { to: 'the shop', amount: 7 });

/** `around` is what it knows of the system; `obeyed` receives the mark of each text that it has obeyed. */
export function hijacked(
  injections: readonly Injection[],
  around: Surroundings,
  obeyed: (mark: string) => void,
): (prompt: Prompt) => readonly Step[] {
  const byMark = new Map(injections.map((injection) => [injection.mark, injection]));
  return (prompt) => {
    const own = prompt.messages.filter(({ role }: Json) => role === 'assistant');
    const shown = JSON.stringify([prompt.messages, prompt.tools]);
    const choice = /chc_\w+/.exec(shown)?.[0] ?? around.choice;
    for (const [mark] of shown.matchAll(markPattern)) {
      const injection = byMark.get(mark);
      if (injection === undefined || own.some((message: Json) => saysIn(message).includes(`obeying ${mark}`))) continue;
      obeyed(mark);
      return [{ text: `obeying ${mark} ` }, ...injection.obeys({ ...around, choice }, shown.slice(0, 20_000))];
    }
    return nextStep(prompt.messages);
  };
}

const saysIn = ({ content }: Json): string => (typeof content === 'string' ? content : JSON.stringify(content ?? ''));

/** The last of the person’s wishes, or its parent’s, that it has not answered with a call. */
function nextStep(messages: readonly Json[]): readonly Step[] {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const wish = last < 0 ? '' : saysIn(messages[last]);
  const isDone = messages.slice(last + 1).some(({ role }) => role === 'assistant');
  if (isDone) return [{ text: 'done' }];
  if (wish.includes(firstWish)) return [firstPayment];
  if (wish.includes(delegated)) return [toolCall('pay', { to: 'mallory', amount: 9_999 })];
  const tool = /Now use the tool (\w+)\./.exec(wish)?.[1];
  return tool === undefined ? [{ text: 'done' }] : [toolCall(tool, { what: 'invoices' })];
}
