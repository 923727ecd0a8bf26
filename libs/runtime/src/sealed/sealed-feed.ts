// Hints with sealed words, for a feed that stores them for clients that connect late: what a running completion has
// said, and why an attempt failed. Commits and views pass by and are not stored.
//
// Invariants:
//   H1. A hint whose key is not in memory is not published: nothing is stored in the clear, and a hint may be lost. The
//       process that asks the model has just sealed a commit of the thread.
//   H2. A subscription is in force when its key is in memory. A hint that comes when the key has been forgotten is
//       lost, and the key is read again for the next ones.
import type { Delta, Hint, LiveFeed, Retrying, ThreadKey } from '@dormouse/ports';
import type { Place } from './content-seal.ts';
import type { SealingDeps } from './sealed-copies.ts';

export function sealedFeed(feed: LiveFeed, { seal, families }: SealingDeps): LiveFeed {
  function sealedHint(key: ThreadKey, hint: Hint): Hint | null {
    const family = families.remembered(key);
    return withWords(key, hint, (place, text) =>
      family === undefined ? undefined : seal.sealNow(key.tenant, family, place, text),
    );
  }

  return {
    publish(key, hint) {
      const sealed = sealedHint(key, hint);
      if (sealed !== null) feed.publish(key, sealed); // (H1)
    },
    async subscribe(key, listener) {
      const family = await families.of(key);
      await seal.prime(key.tenant, family);
      return feed.subscribe(key, (hint) => {
        const opened = withWords(key, hint, (place, text) => seal.openNow(key.tenant, place, text));
        if (opened !== null) listener(opened);
        else void seal.prime(key.tenant, family).catch(() => undefined); // (H2)
      });
    },
    async soFar(key) {
      const stored = await feed.soFar(key);
      const contents = stored.map((delta) => ({ place: placeOfDelta(key, delta), text: delta.text }));
      const texts = await seal.openAll(key.tenant, contents);
      const opened = stored.map((delta, place) => ({ delta, text: texts[place] ?? null }));
      return opened.flatMap(({ delta, text }) => (text === null ? [] : [{ ...delta, text }]));
    },
    async retrying(key) {
      const stored = await feed.retrying(key);
      const detail = stored && (await seal.open(key.tenant, placeOfRetrying(key, stored), stored.detail));
      return stored === null || detail === null ? null : { ...stored, detail };
    },
  };
}

const placeOfDelta = ({ thread }: ThreadKey, { completionId, attempt, kind, index, offset }: Delta): Place => [
  ...['delta', thread, completionId, kind],
  ...[attempt, index, offset].map(String),
];

const placeOfRetrying = ({ thread }: ThreadKey, { completionId, attempt }: Retrying): Place => [
  ...['retrying', thread, completionId, String(attempt)],
];

type Exchange = (place: Place, text: string) => string | null | undefined;

/** The hint with its words exchanged, if it is of those that are stored; null where they cannot be. */
function withWords(key: ThreadKey, hint: Hint, exchange: Exchange): Hint | null {
  switch (hint.hint) {
    case 'delta': {
      const { delta } = hint;
      if (delta.kind === 'slot') return hint; // a time, in the clear
      const text = exchange(placeOfDelta(key, delta), delta.text) ?? null;
      return text === null ? null : { hint: 'delta', delta: { ...delta, text } };
    }
    case 'retrying': {
      const { retrying } = hint;
      const detail = exchange(placeOfRetrying(key, retrying), retrying.detail) ?? null;
      return detail === null ? null : { hint: 'retrying', retrying: { ...retrying, detail } };
    }
    default:
      return hint;
  }
}
