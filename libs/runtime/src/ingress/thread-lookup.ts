// Whether a thread exists: asked by every request, answered from memory for threads that were seen once, because a
// thread that exists never stops existing. Only this positive fact is remembered.
//
// Invariant:
//   W1. A thread whose row still carries its opening is opened before anything else is sent to it: after a 201 posting
//       works at once, also when the process died between the row and the opening. design §4
import { type InputBus, type Soon, type ThreadDirectory, type ThreadKey, ThreadMap } from '@dormouse/ports';
import { answered, type Answered, notFound } from './refusal.ts';

const rememberedMax = 100_000;

export interface ThreadLookup {
  /** 404 for another tenant's thread as for an unknown one: nobody learns which. */
  find(key: ThreadKey): Soon<Answered<ThreadKey>>;
  /** It was just opened. */
  remember(key: ThreadKey): void;
}

export function createThreadLookup(deps: {
  readonly directory: ThreadDirectory;
  readonly bus: InputBus;
}): ThreadLookup {
  const known = new ThreadMap<true>();
  function remember(key: ThreadKey): void {
    if (known.size >= rememberedMax) known.clear();
    known.set(key, true);
  }
  async function lookUp(key: ThreadKey): Promise<Answered<ThreadKey>> {
    const row = await deps.directory.get(key);
    if (row === null) return notFound('thread');
    if (row.opening !== null) await deps.bus.publish(key, row.opening); // (W1) twice is once: it has one input id
    remember(key);
    return answered(key);
  }
  return { remember, find: (key) => (known.has(key) ? answered(key) : lookUp(key)) };
}
