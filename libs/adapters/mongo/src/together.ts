// Questions of one kind that come in the same tick of the event loop, or while another question runs, go to the server
// together: no timer, no added wait.
//
// Invariants:
//   T1. One question runs at a time; those that come meanwhile form the next one, in order of arrival.
//   T2. Every caller of a group gets its own answer, or the group's failure.
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
