// The topics `dispatches` and `notices` inside one process. Contract: ports/bus/work-bus.ts (W1 to W4).
// What is lost with the process is produced again from the commits that still owe. (V10)
//
// Invariants:
//   K1. `Receipt.handled` resolves when the handler has resolved, never before and never by giving up.
//   K2. A message that waits for its next attempt holds no place.
import { type Ticket, TransientSet } from '@dormouse/collections';
import {
  type Clock,
  createWorkPlaces,
  type HeldMessage,
  type PartitionLoad,
  type Receipt,
  type Subscription,
  type WorkBus,
  type WorkPlace,
  type WorkShares,
  type WorkTopics,
} from '@dormouse/ports';
import { unavailable } from '../file/fault-of.ts';

export interface LocalWorkBusOptions {
  readonly clock: Clock;
  readonly inFlightMax: number;
  readonly queuedMax: number;
  readonly backoffMsFirst: number;
  readonly backoffMsMax: number;
}

export interface LocalWorkBus extends WorkBus {
  load(): readonly PartitionLoad[];
  /** Refuses messages that are published from now on. */
  close(): void;
}

interface Job<Message> {
  readonly message: Message;
  readonly held: HeldMessage;
  readonly done: () => void;
  /** Its place among the unfinished jobs. */
  ticket: Ticket<Job<Message>> | null;
  attempts: number;
}

interface Topic<Message> {
  /** Published and not handled. */
  readonly unfinished: number;
  publish(message: Message): Promise<Receipt>;
  consume(handle: (message: Message, place: WorkPlace) => Promise<void>, shares?: WorkShares): Promise<Subscription>;
}

interface Owner<Message> {
  readonly handle: (message: Message, place: WorkPlace) => Promise<void>;
  readonly stopped: AbortController;
}

export function createLocalWorkBus(options: LocalWorkBusOptions): LocalWorkBus {
  let closed = false;
  const topics: { readonly [Name in keyof WorkTopics]: Topic<WorkTopics[Name]> } = {
    dispatches: createTopic(options, () => closed),
    notices: createTopic(options, () => closed),
  };
  return {
    publish: (topic, message) => topics[topic].publish(message),
    consume: (topic, handle, shares) => topics[topic].consume(handle, shares),
    load: () => (['dispatches', 'notices'] as const).map((topic) => loadOf(topic, topics[topic].unfinished)),
    close: () => {
      closed = true;
    },
  };
}

function createTopic<Message extends WorkTopics[keyof WorkTopics]>(
  options: LocalWorkBusOptions,
  isClosed: () => boolean,
): Topic<Message> {
  const { clock } = options;
  const unfinished = new TransientSet<Job<Message>>();
  let owner: Owner<Message> | null = null;
  const begun = new TransientSet<Promise<void>>();
  let weights: WorkShares | null = null;
  const places = createWorkPlaces(
    { inFlightMax: options.inFlightMax, heldMax: options.queuedMax },
    { weightOf: (tenant) => weights?.weightOf(tenant) ?? 1 },
  );

  function start(job: Job<Message>): void {
    if (owner === null) return; // the next owner starts it
    const by = owner;
    void job.held.inPlace(async (place) => {
      if (by.stopped.signal.aborted) return; // the next owner starts it again
      const attempt = handleOnce(by, job, place);
      const ticket = begun.add(attempt);
      await attempt;
      begun.delete(ticket);
    });
  }

  async function handleOnce(by: Owner<Message>, job: Job<Message>, place: WorkPlace): Promise<void> {
    try {
      await by.handle(job.message, place);
      if (job.ticket !== null) unfinished.delete(job.ticket);
      job.held.leave();
      job.done();
    } catch {
      // The handler reports its own failures; here a failure only means "retry". (work-bus W2)
      job.attempts += 1;
      void retryLater(by, job);
    }
  }

  /** (K2) */
  async function retryLater(by: Owner<Message>, job: Job<Message>): Promise<void> {
    const backoffMs = Math.min(options.backoffMsMax, options.backoffMsFirst * 2 ** (job.attempts - 1));
    await clock.sleep(backoffMs, by.stopped.signal);
    if (by.stopped.signal.aborted) return;
    start(job);
  }

  async function stop(by: Owner<Message>, withinMs: number): Promise<void> {
    by.stopped.abort();
    if (owner === by) owner = null;
    const late = new AbortController();
    await Promise.race([Promise.allSettled(begun.values()), clock.sleep(withinMs, late.signal)]);
    late.abort();
  }

  return {
    get unfinished() {
      return unfinished.size;
    },
    publish: async (message) => {
      if (isClosed()) throw unavailable('The runtime is shutting down.');
      if (unfinished.size >= options.queuedMax) throw unavailable('Too much work is waiting.');
      const handled = new Promise<void>((resolve) => {
        const held = places.hold(message);
        const job: Job<Message> = { message, held, done: resolve, ticket: null, attempts: 0 };
        job.ticket = unfinished.add(job);
        start(job);
      });
      return { handled };
    },
    consume: async (handle, shares) => {
      if (owner) throw new Error('the local bus has one consumer per topic');
      weights = shares ?? null;
      const mine = { handle, stopped: new AbortController() };
      owner = mine;
      for (const job of [...unfinished.values()]) start(job); // unfinished jobs of the previous owner (work-bus W1)
      return { close: (withinMs) => stop(mine, withinMs) };
    },
  };
}

/** All of it is in memory, in one partition. */
const loadOf = (topic: keyof WorkTopics, lag: number): PartitionLoad => ({
  ...{ topic, partition: 0, lag, inFlight: lag },
  oldestMs: 0,
});
