// Questions of one kind that come in the same turn of the event loop, or while another is on its way, go to the server together:
// no timer, no added wait.
//
// Invariants:
//   T1. One question is on its way at a time; what comes meanwhile is the next one, in the order it came.
//   T2. Everybody of a group gets an answer of their own, or the group's failure.
import { setImmediate } from 'node:timers/promises';

/** `ask` answers in the order given. */
export function together<Item, Answer>(
  ask: (items: readonly Item[]) => Promise<readonly Answer[]>,
  itemsMax: number,
): (item: Item) => Promise<Answer> {
  interface Waiting {
    readonly item: Item;
    readonly resolve: (answer: Answer) => void;
    readonly reject: (error: unknown) => void;
  }
  let waiting: Waiting[] = [];
  let asking = false;

  async function askAll(): Promise<void> {
    asking = true;
    await setImmediate();
    while (waiting.length > 0) {
      const group = waiting.slice(0, itemsMax);
      waiting = waiting.slice(itemsMax);
      try {
        const answers = await ask(group.map(({ item }) => item));
        for (const [index, each] of group.entries()) each.resolve(answers[index] as Answer);
      } catch (error) {
        for (const each of group) each.reject(error); // (T2)
      }
    }
    asking = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!asking) void askAll(); // (T1)
    });
}
