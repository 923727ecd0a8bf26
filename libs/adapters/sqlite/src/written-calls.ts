// Which calls the ledger may know of. Nearly every call that it is asked about is new, and then nothing has to be read: ids of
// calls begin with their time, so a call later than all that were ever written was never written.
//
// Invariants:
//   C1. `mayHave` is false only for a call of which nothing was ever written: it is later than every row that was found at
//       the beginning, than every call that was forgotten since, and is none of those remembered.
//   C2. Two generations are remembered; the older one is forgotten when the younger is full.

/** A call's id as it is minted: plain letters, which SQLite and JavaScript sort alike. */
const minted = /^call_[0-9A-Z]+$/;

export interface WrittenCalls {
  /** What is no minted call counts as written. */
  mayHave(subject: string): boolean;
  /** Before a row of it goes to the writer. */
  writing(subject: string): void;
}

interface Generation {
  readonly calls: Set<string>;
  latest: string;
}

const newGeneration = (): Generation => ({ calls: new Set(), latest: '' });

/** `latestStored` finds the latest call that has a row, '' for none; asked when it is first needed. */
export function createWrittenCalls(latestStored: () => string, rememberedMax: number): WrittenCalls {
  let latestFound: string | null = null;
  let latestForgotten = '';
  let young = newGeneration();
  let old = newGeneration();
  return {
    mayHave: (subject) => {
      if (!minted.test(subject)) return true;
      latestFound ??= latestStored();
      if (subject <= latestFound || subject <= latestForgotten) return true;
      if (subject > young.latest && subject > old.latest) return false; // later than all: nothing is looked up
      return young.calls.has(subject) || old.calls.has(subject);
    },
    writing: (subject) => {
      if (!minted.test(subject)) return;
      if (young.calls.size >= rememberedMax / 2) {
        if (old.latest > latestForgotten) latestForgotten = old.latest;
        old = young;
        young = newGeneration();
      }
      young.calls.add(subject);
      if (subject > young.latest) young.latest = subject;
    },
  };
}
