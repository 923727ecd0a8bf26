// The topic `inputs` inside one process: a queue in memory whose durable half is the log itself.
// Contract: ports/input-bus.ts (B1..B4). What a commit owes after its inputs have left the queue is in `owed-commits.ts`.
//
// Invariants:
//   Q1. `publish` resolves when the delivery is decided: the input is in its commit, and only there. (B1)
//   Q2. One queue for all threads, in order of arrival, so each thread's order is kept. (B2)
//   Q3. Whoever consumes next gets first what commits may still owe, then what was not decided. (B2, V10)
//   Q4. Undecided inputs are bounded, in all and per thread; above that `publish` is refused with UNAVAILABLE.
import type { Assignment, InputBus, InputConsumer, Subscription, ThreadDelivery, ThreadKey } from '@dormouse/ports';
import type { ThreadInput } from '@dormouse/thread';
import { unavailable } from './fault-of.ts';
import type { OwedCommits } from './owed-commits.ts';

export interface LocalInputBusOptions {
  readonly owed: OwedCommits;
  readonly undecidedMax: number;
  readonly undecidedPerThreadMax: number;
  /** How often a consumer that was busy is asked again, besides after each release. */
  readonly busyPollMs: number;
}

export interface LocalInputBus extends InputBus {
  /** Refuses what is published from now on and what is not decided yet. */
  close(): void;
}

/** An input on its way to its decision. */
interface Published extends ThreadKey {
  readonly input: ThreadInput;
  readonly trace: string | null;
  decided(): void;
  refused(error: Error): void;
}

type Queued =
  | { readonly what: 'input'; readonly published: Published }
  | { readonly what: 'recovery'; readonly key: ThreadKey; readonly from: number };

interface Owner {
  readonly assignment: Assignment;
  readonly consumer: InputConsumer;
  revoked: boolean;
}

const partition = 0;

export function createLocalInputBus(options: LocalInputBusOptions): LocalInputBus {
  const { owed } = options;
  const undecided = new Set<Published>();
  const undecidedOf = new Map<string, number>();
  let queue: Queued[] = [];
  let first = 0;
  let owner: Owner | null = null;
  let generation = 0;
  let closed = false;
  let poll: NodeJS.Timeout | null = null;

  function accept(key: ThreadKey, input: ThreadInput, trace: string | null): Promise<void> {
    const name = `${key.tenant} ${key.thread}`;
    const ofThread = undecidedOf.get(name) ?? 0;
    // (Q4)
    if (undecided.size >= options.undecidedMax) return Promise.reject(unavailable('Too many inputs are waiting.'));
    if (ofThread >= options.undecidedPerThreadMax)
      return Promise.reject(unavailable('Too many inputs of this thread are waiting.'));
    undecidedOf.set(name, ofThread + 1);
    return new Promise((resolve, reject) => {
      const leave = (): boolean => {
        if (!undecided.delete(published)) return false;
        const left = (undecidedOf.get(name) ?? 1) - 1;
        if (left === 0) undecidedOf.delete(name);
        else undecidedOf.set(name, left);
        return true;
      };
      const published: Published = {
        tenant: key.tenant,
        thread: key.thread,
        input,
        trace,
        decided: () => void (leave() && resolve()),
        refused: (error) => void (leave() && reject(error)),
      };
      undecided.add(published);
      queue.push({ what: 'input', published });
      deliverAll();
    });
  }

  /** Hands over until the consumer has enough. (B4) */
  function deliverAll(): void {
    while (owner && first < queue.length) {
      if (owner.consumer.busy()) {
        askAgainLater();
        break;
      }
      const next = queue[first];
      first += 1;
      if (next) owner.consumer.deliver(owner.assignment, deliveryOf(owner, next));
    }
    if (first === queue.length || first > 1_024) {
      queue = queue.slice(first);
      first = 0;
    }
  }

  function askAgainLater(): void {
    poll ??= setTimeout(() => {
      poll = null;
      deliverAll();
    }, options.busyPollMs);
  }

  function deliveryOf(to: Owner, queued: Queued): ThreadDelivery {
    if (queued.what === 'recovery')
      return { what: 'recovery', ...handle(to, queued.key, null, queued.from), from: queued.from };
    const { published } = queued;
    return { what: 'input', ...handle(to, published, published), input: published.input };
  }

  /** What every delivery can be told. Nothing is listened to once its assignment is over. (B3) */
  function handle(
    to: Owner,
    key: ThreadKey,
    published: Published | null,
    from: number | null = null,
  ): Omit<ThreadDelivery, 'what'> {
    const holder = {};
    owed.hold(key, holder);
    if (from !== null) owed.decided(key, holder, from);
    return {
      tenant: key.tenant,
      thread: key.thread,
      trace: published?.trace ?? null,
      decided: (version) => {
        if (to.revoked) return;
        if (published) owed.decided(key, holder, version);
        published?.decided();
      },
      release: () => {
        if (to.revoked) return;
        owed.release(key, holder);
        deliverAll();
      },
    };
  }

  /** (Q3) */
  async function takeOver(consumer: InputConsumer): Promise<Owner> {
    const recoveries = await owed.takeOver();
    generation += 1;
    queue = recoveries.map(({ key, from }) => ({ what: 'recovery', key, from }));
    for (const published of undecided) queue.push({ what: 'input', published });
    first = 0;
    return { assignment: { partition, generation }, consumer, revoked: false };
  }

  async function revoke(from: Owner): Promise<void> {
    from.revoked = true;
    if (owner === from) owner = null;
    await from.consumer.revoked(from.assignment);
  }

  return {
    publish: (key, input, trace = null) =>
      closed ? Promise.reject(unavailable('The runtime is shutting down.')) : accept(key, input, trace),
    consume: async (consumer): Promise<Subscription> => {
      if (owner) throw new Error('the local bus has one partition, and it has an owner');
      const mine = await takeOver(consumer);
      owner = mine;
      consumer.assigned(mine.assignment);
      deliverAll();
      return { close: (withinMs) => atMost(withinMs, revoke(mine)) };
    },
    close: () => {
      closed = true;
      if (poll) clearTimeout(poll);
      for (const published of undecided) published.refused(unavailable('The runtime is shutting down.'));
      queue = [];
      first = 0;
    },
  };
}

async function atMost(withinMs: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, withinMs);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
