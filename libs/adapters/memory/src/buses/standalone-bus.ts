// The buses of a standalone world: queues in the memory of the one process. An input is made durable by its commit, a
// debt by the owed row beside that commit. (V10)
//
// Invariants:
//   S1. `publish` of an input resolves when the input is decided for good. (input-bus B1)
//   S2. A start delivers one `recovery` per thread that has owed rows, before any input of it. (input-bus B2)
//   S3. An owed row is deleted only when nothing can depend on it: no unreleased delivery of the thread was decided at
//       or below its version, and the row is not above everything decided while a delivery is still undecided (that row
//       may be its commit, stored a moment ago). The answer of a completion lies above the delivery that holds the
//       completion.
//   S4. `handled` of a work message resolves after its handler did; until then its commit stays owed. (work-bus W1)
import {
  type BusInput,
  Fault,
  type Clock,
  type InputBus,
  type InputConsumer,
  type ThreadDelivery,
  type ThreadKey,
  unboundedPlace,
  type WorkBus,
  type WorkPlace,
  type WorkTopics,
} from '@dormouse/ports';
import { untilHandled } from './durable-bus.ts';
import type { Passage } from '../gate.ts';
import { createSignal } from './group-member.ts';
import { type LogStore, nameOf } from '../log/thread-log.ts';
import type { WorldObserver } from '../world-observer.ts';

export interface StandaloneBusDeps {
  readonly node: string;
  readonly log: LogStore;
  readonly passage: Passage;
  readonly clock: Clock;
  readonly observer: WorldObserver;
}

/** Deliveries of one thread that are not released; the number is the version they were decided at, null before. */
interface Holders {
  readonly key: ThreadKey;
  readonly unreleased: Map<object, number | null>;
  decidedMax: number;
}

const assignment = { partition: 0, generation: 1 };
const busyDelayMs = 10;
const retryDelayMs = 50;

export function createStandaloneInputBus({ node, log, passage, clock, observer }: StandaloneBusDeps): InputBus {
  const queue: ThreadDelivery[] = [];
  const holders = new Map<string, Holders>();
  let consumer: InputConsumer | null = null;
  let pumping = false;
  let drained = createSignal();

  async function pump(): Promise<void> {
    if (pumping) return;
    pumping = true;
    while (consumer !== null && queue.length > 0) {
      if (consumer.busy()) {
        await clock.sleep(busyDelayMs);
        continue;
      }
      const next = queue.shift();
      if (next !== undefined) consumer.deliver(assignment, next);
    }
    pumping = false;
  }

  function hold(key: ThreadKey, holder: object, version: number | null): Holders {
    const name = nameOf(key);
    const found = holders.get(name) ?? {
      key: { tenant: key.tenant, thread: key.thread },
      unreleased: new Map(),
      decidedMax: -1,
    };
    holders.set(name, found);
    found.unreleased.set(holder, version);
    found.decidedMax = Math.max(found.decidedMax, version ?? -1);
    return found;
  }

  function release(key: ThreadKey, holder: object): void {
    const found = holders.get(nameOf(key));
    if (found?.unreleased.delete(holder) !== true) return;
    void clearOwed(found);
    if (found.unreleased.size === 0) holders.delete(nameOf(key));
    if (holders.size === 0) drained.fire();
  }

  async function clearOwed(found: Holders): Promise<void> {
    const free = freeVersions(log, found);
    if (free.length === 0) return;
    const name = nameOf(found.key);
    const remove = (): void => {
      const versions = log.owed.get(name)?.versions;
      for (const version of free) versions?.delete(version);
      if (versions?.size === 0) log.owed.delete(name);
    };
    while (!(await passage.write('log.release', `${name}:${free.join(',')}`, remove).then(() => true, unavailable)))
      await clock.sleep(retryDelayMs);
  }

  function enqueue(key: ThreadKey, input: BusInput, trace: string | null): Promise<void> {
    const decided = createSignal();
    const delivery: ThreadDelivery = {
      tenant: key.tenant,
      thread: key.thread,
      what: 'input',
      input,
      trace,
      decided: (version) => {
        observer.decided(node, delivery, version);
        hold(key, delivery, version ?? -1);
        decided.fire();
      },
      release: () => release(key, delivery),
    };
    hold(key, delivery, null);
    queue.push(delivery);
    void pump();
    return decided.fired;
  }

  async function recover(): Promise<void> {
    const owed = await passage.read('log.owed', node, () =>
      [...log.owed.values()].map(({ key, versions }) => ({ key, from: Math.min(...versions) })),
    );
    for (const { key, from } of owed) {
      const delivery: ThreadDelivery = {
        ...key,
        what: 'recovery',
        from,
        trace: null,
        decided: () => {},
        release: () => release(key, delivery),
      };
      hold(key, delivery, from);
      queue.unshift(delivery); // (S2)
    }
  }

  return {
    publish: async (key, input, trace = null) => {
      const { decided } = await passage.write('inputs.publish', `${nameOf(key)} ${input.id}`, () => ({
        decided: enqueue(key, input, trace),
      }));
      await decided; // (S1)
    },
    consume: async (given) => {
      await recover();
      consumer = given;
      given.assigned(assignment);
      void pump();
      return {
        close: async (withinMs) => {
          consumer = null;
          drained = createSignal();
          if (holders.size > 0) await Promise.race([drained.fired, clock.sleep(withinMs)]);
          await Promise.race([given.revoked(assignment), clock.sleep(withinMs)]);
        },
      };
    },
  };
}

/** Rows that no delivery can depend on any more. (S3) */
function freeVersions(log: LogStore, { key, unreleased, decidedMax }: Holders): readonly number[] {
  const versions = [...(log.owed.get(nameOf(key))?.versions ?? [])];
  const held = [...unreleased.values()];
  const lowest = Math.min(
    ...held.map((version) => (version === null || version < 0 ? Number.POSITIVE_INFINITY : version)),
  );
  const anyUndecided = held.includes(null);
  return versions.filter((version) => version < lowest && (!anyUndecided || version <= decidedMax));
}

export function createStandaloneWorkBus({ node, passage, clock, observer }: StandaloneBusDeps): WorkBus {
  const dispatches = createWorkQueue<WorkTopics['dispatches']>(clock);
  const notices = createWorkQueue<WorkTopics['notices']>(clock);
  const queues: { readonly [Topic in keyof WorkTopics]: WorkQueue<WorkTopics[Topic]> } = { dispatches, notices };
  return {
    publish: (topic, message) =>
      passage.write(`${topic}.publish`, `${nameOf(message)} ${message.effect.id}`, () => {
        observer.handedOver(node, message);
        return { handled: queues[topic].push(message) };
      }),
    consume: async (topic, handle) => queues[topic].consume(handle),
  };
}

interface WorkQueue<Message> {
  push(message: Message): Promise<void>;
  consume(handle: (message: Message, place: WorkPlace) => Promise<void>): { close(withinMs: number): Promise<void> };
}

function createWorkQueue<Message>(clock: Clock): WorkQueue<Message> {
  const waiting: { readonly message: Message; readonly handled: () => void }[] = [];
  const running = new Set<Promise<unknown>>();
  let handler: ((message: Message, place: WorkPlace) => Promise<void>) | null = null;

  function start(): void {
    for (const handle = handler; handle !== null && waiting.length > 0;) {
      const next = waiting.shift();
      if (next === undefined) return;
      const run = untilHandled(
        clock,
        () => handler !== handle,
        () => handle(next.message, unboundedPlace),
      ).then((handled) => {
        running.delete(run);
        if (handled) next.handled();
      });
      running.add(run);
    }
  }

  return {
    push: (message) => {
      const handled = createSignal();
      waiting.push({ message, handled: () => handled.fire() });
      start();
      return handled.fired;
    },
    consume: (handle) => {
      handler = handle;
      start();
      return {
        close: async (withinMs) => {
          handler = null;
          await Promise.race([Promise.all(running), clock.sleep(withinMs)]);
        },
      };
    },
  };
}

function unavailable(reason: unknown): false {
  if (reason instanceof Fault) return false;
  throw reason;
}
