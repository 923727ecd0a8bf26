// The rotation of the master key, as the API offers it: which one is in use, and sealing again what is older.
//
// Invariants:
//   M1. The installation is told of the key in use only when nothing is left that an older one has sealed, and when no
//       newer key is about to come: then processes that lack it are refused. (installation N3)
import type { Clock, SealOwner } from '@dormouse/ports';
import type { Reseal } from '@dormouse/runtime';
import type { KeyRing } from './key-ring.ts';

export interface Resealing {
  readonly kid: string;
  /** Milliseconds since the epoch. */
  readonly since: number | null;
  readonly nextAt: number | null;
  readonly resealed: number;
  readonly unreadable: readonly SealOwner[];
  readonly done: boolean;
}

export interface MasterKeys {
  /** @throws Fault */
  reseal(): Promise<Resealing>;
}

/** Below the time that proxies wait for an answer. */
const withinMs = 20_000;

export function createMasterKeys(deps: {
  readonly keys: KeyRing;
  readonly clock: Pick<Clock, 'now'>;
  readonly reseal: Reseal;
  readonly noteMasterKey: (mark: string) => Promise<void>;
}): MasterKeys {
  const { keys, clock, reseal, noteMasterKey } = deps;
  return {
    async reseal() {
      const inUse = keys.at(clock.now());
      const { resealed, unreadable, isDone } = await reseal(withinMs);
      const after = keys.at(clock.now());
      const done = isDone && after === inUse;
      if (done) await noteMasterKey(inUse.mark); // (M1)
      const nextAt = keys.all.find(({ since }) => since > clock.now())?.since ?? null;
      return { kid: inUse.mark, since: inUse.since || null, nextAt, resealed, unreadable, done };
    },
  };
}
