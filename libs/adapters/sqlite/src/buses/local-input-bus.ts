// The topic `inputs` inside one process: a queue in memory whose durable half is the log itself. Contract:
// ports/bus/input-bus.ts (B1..B4). What a commit owes after its inputs have left the queue is in `owed-commits.ts`.
//
// Invariants:
//   Q1. `publish` resolves when the delivery is decided: the input is in its commit, and only there. (input-bus B1)
//   Q2. One queue for all threads, in order of arrival, so each thread's order is kept. (input-bus B2)
//   Q3. The next consumer gets first what commits may still owe, then what was not decided. (input-bus B2, V10)
//   Q4. Undecided inputs are bounded, in all, per tenant and per thread; above that `publish` is refused with
//       UNAVAILABLE.
//   Q5. An input that cannot be decided for `undecidedMsMax` (the disk is full, or no further work may begin) is
//       refused with UNAVAILABLE and withdrawn: it is not decided later, unless its commit was under way already.
import { TransientSet } from '@dormouse/collections';
import type {
  Assignment,
  InputBus,
  InputConsumer,
  PartitionLoad,
  Subscription,
  ThreadDelivery,
  ThreadKey,
} from '@dormouse/ports';
import { unavailable } from '../file/fault-of.ts';
import type { OwedCommits } from './owed-commits.ts';
import { createUndecidedInputs, type UndecidedInput } from './undecided-inputs.ts';

export interface LocalInputBusOptions {
  readonly owed: OwedCommits;
  readonly undecidedMax: number;
  readonly undecidedPerThreadMax: number;
  readonly undecidedPerTenantMax: number;
  readonly undecidedMsMax: number;
  /** How often a consumer that was busy is asked again, besides after each release. */
  readonly busyPollMs: number;
}

export interface LocalInputBus extends InputBus {
  load(): PartitionLoad;
  /** Refuses inputs that are published from now on or are not decided yet. */
  close(): void;
}

type Queued =
  | { readonly what: 'input'; readonly published: UndecidedInput }
  | { readonly what: 'recovery'; readonly key: ThreadKey; readonly from: number };

interface Owner {
  readonly assignment: Assignment;
  readonly consumer: InputConsumer;
  revoked: boolean;
}

const partition = 0;
const sweepMs = 500;

export function createLocalInputBus(options: LocalInputBusOptions): LocalInputBus {
  const { owed } = options;
  const undecided = createUndecidedInputs({
    ...{ max: options.undecidedMax, perThreadMax: options.undecidedPerThreadMax },
    perTenantMax: options.undecidedPerTenantMax,
  });
  let queue: Queued[] = [];
  let first = 0;
  let owner: Owner | null = null;
  let generation = 0;
  let closed = false;
  /** Publication times of what is delivered and not released, oldest delivery first. */
  let open = new TransientSet<number>();
  let poll: NodeJS.Timeout | null = null;
  let sweep: NodeJS.Timeout | null = null;

  /** Delivers until the consumer has enough. (input-bus B4) */
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

  /** (Q5) No timer while nothing is undecided. */
  function sweepLater(): void {
    sweep ??= setTimeout(() => {
      sweep = null;
      const why = owner?.consumer.busy() === true ? isFull() : cannotBeStored();
      const refused = undecided.refuseOld(performance.now() - options.undecidedMsMax, why);
      if (refused > 0) {
        queue = queue.slice(first).filter((queued) => queued.what === 'recovery' || !queued.published.isWithdrawn);
        first = 0;
      }
      if (undecided.size > 0) sweepLater();
    }, sweepMs).unref();
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
    const { input, since: publishedAt } = published;
    return { what: 'input', ...handle(to, published, published), input, publishedAt };
  }

  /** The callbacks of every delivery. They have no effect once the delivery's assignment is over. (input-bus B3) */
  function handle(
    to: Owner,
    key: ThreadKey,
    published: UndecidedInput | null,
    from: number | null = null,
  ): Omit<ThreadDelivery, 'what'> {
    const holder = {};
    const mine = open;
    const ticket = mine.add(published?.since ?? performance.now());
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
      isWithdrawn: () => published?.isWithdrawn === true,
      release: () => {
        if (to.revoked) return;
        mine.delete(ticket);
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
    for (const published of undecided.all()) queue.push({ what: 'input', published });
    first = 0;
    open = new TransientSet();
    return { assignment: { partition, generation }, consumer, revoked: false };
  }

  /**
   * Nothing more is delivered; decisions and releases count while the consumer stops, not afterwards. (input-bus B3)
   */
  async function revoke(from: Owner, withinMs: number): Promise<void> {
    if (owner === from) owner = null;
    await atMost(withinMs, from.consumer.revoked(from.assignment));
    from.revoked = true;
  }

  return {
    publish: (key, input, trace = null) => {
      const refusal = closed ? shuttingDown() : undecided.refusal(key);
      if (refusal !== null) return Promise.reject(refusal);
      const { undecided: published, done } = undecided.add(key, input, trace);
      queue.push({ what: 'input', published });
      sweepLater();
      deliverAll();
      return done;
    },
    consume: async (consumer): Promise<Subscription> => {
      if (owner) throw new Error('the local bus has one partition, and it has an owner');
      const mine = await takeOver(consumer);
      owner = mine;
      consumer.assigned(mine.assignment);
      deliverAll();
      return { close: (withinMs) => revoke(mine, withinMs) };
    },
    load: () => {
      const [oldest = performance.now()] = open.values();
      const lag = open.size + queue.length - first;
      return { topic: 'inputs', partition, lag, inFlight: open.size, oldestMs: performance.now() - oldest };
    },
    close: () => {
      closed = true;
      if (poll) clearTimeout(poll);
      if (sweep) clearTimeout(sweep);
      undecided.refuseAll(shuttingDown());
      queue = [];
      first = 0;
    },
  };
}

const cannotBeStored = (): Error =>
  unavailable('This cannot be stored now: the disk may be full or too slow. Send it again later.');
const isFull = (): Error => unavailable('As many threads are at work as this process takes. Send it again later.');
const shuttingDown = (): Error => unavailable('The runtime is shutting down.');

async function atMost(withinMs: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, withinMs);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
