// The transport of a cluster's services, as NestJS microservices know one: it binds the handlers that controllers
// register with `@EventPattern('inputs' | 'dispatches' | 'notices')` and calls one for every record. Fetching, lanes,
// watermark, pause and drain stay the bus's and the service's. ADR 8
//
// Invariants:
//   T1. A record passes through its handler before the service is given it: guards, interceptors and filters of Nest
//       apply to it.
//   T2. Inputs of one partition pass in their order: the next one begins when the one before was handed on.
//   T3. An input whose handler fails is handled again, after growing pauses, as long as its assignment lives; it is
//       said once. Nothing behind it overtakes it. Work whose handler fails is handed out again by the bus.
//   T4. Stop: the services drain, in their order, within `stopWithinMs`.
import type {
  Assignment,
  InputConsumer,
  Logger,
  Stores,
  ThreadDelivery,
  WorkPlace,
  WorkShares,
  WorkTopics,
} from '@dormouse/ports';
import type { Service } from '@dormouse/runtime';
import { type CustomTransportStrategy, type ReadPacket, Server } from '@nestjs/microservices';
import { setTimeout as sleep } from 'node:timers/promises';
import { isObservable, lastValueFrom } from 'rxjs';
import { InputContext, type RecordContext, type RecordTopic, WorkContext } from './record-context.ts';

type Buses = Pick<Stores, 'inputs' | 'work'>;
type WorkHandler<Topic extends keyof WorkTopics> = (message: WorkTopics[Topic], place: WorkPlace) => Promise<void>;

/** What the services of a process do with records, once they have subscribed. Controllers call it. */
export interface RecordConsumers {
  inputs: InputConsumer | null;
  dispatches: WorkHandler<'dispatches'> | null;
  notices: WorkHandler<'notices'> | null;
}

type RecordStatus = 'connected' | 'disconnected';
interface RecordEvents extends Record<string, (status: RecordStatus) => void> {
  readonly status: (status: RecordStatus) => void;
}

/** Inputs that wait for their handlers; above it no more is fetched. */
const waitingMax = 4_096;
const retryMsFirst = 50;
const retryMsMax = 5_000;

/** An assignment is known by this; a bus may copy the object. */
const nameOf = ({ partition, generation }: Assignment): string => `${partition}.${generation}`;

export class RecordStrategy extends Server<RecordEvents, RecordStatus> implements CustomTransportStrategy {
  override readonly transportId = Symbol('dormouse records');
  /** A failed handler is the bus's to repeat, or this transport's. */
  override readonly propagatesEventHandlerErrors = true;
  /** What controllers hand records to. */
  readonly consumers: RecordConsumers = { inputs: null, dispatches: null, notices: null };
  /** The buses for the services: what they consume passes through the handlers. (T1) */
  readonly buses: Buses;
  private services: readonly Service[] = [];
  /** Names of the assignments that live. */
  private readonly live = new Set<string>();
  /** The newest input of each partition that is on its way through its handler. (T2) */
  private readonly last = new Map<number, Promise<void>>();
  private waiting = 0;

  constructor(
    private readonly given: Buses,
    private readonly log: Logger,
    private readonly stopWithinMs: number,
  ) {
    super();
    this.buses = {
      inputs: {
        publish: (key, input, trace) => given.inputs.publish(key, input, trace),
        consume: (consumer) => this.consumeInputs(consumer),
      },
      work: {
        publish: (topic, message) => given.work.publish(topic, message),
        consume: (topic, handle, shares) => this.consumeWork(topic, handle, shares),
      },
    };
  }

  /** Started by `listen`, in this order, and stopped by `close`. */
  run(services: readonly Service[]): void {
    this.services = services;
  }

  listen(listening: (error?: unknown) => void): void {
    const start = async (): Promise<void> => {
      for (const service of this.services) await service.start();
      this._status$.next('connected');
    };
    start().then(
      () => listening(),
      (error: unknown) => listening(error),
    );
  }

  /** (T4) */
  async close(): Promise<void> {
    const deadline = performance.now() + this.stopWithinMs;
    for (const service of this.services) await service.stop(Math.max(0, deadline - performance.now()));
    this.live.clear();
    this._status$.next('disconnected');
  }

  on<Event extends keyof RecordEvents, Callback extends RecordEvents[Event]>(_event: Event, callback: Callback): void {
    this.status.subscribe(callback);
  }

  /** The buses themselves. */
  unwrap<T>(): T {
    return this.given as T;
  }

  /** Resolves when the handler has taken the record. @throws what the handler, a guard or an interceptor throws */
  override async handleEvent(pattern: string, { data }: ReadPacket, context: RecordContext): Promise<void> {
    const handler = this.getHandlerByPattern(pattern);
    if (handler === null) throw new Error(`No controller of this process handles "${pattern}".`);
    const handled = Promise.withResolvers<void>();
    this.onProcessingStartHook(this.transportId, context, async () => {
      try {
        const result: unknown = await handler(data, context);
        if (isObservable(result)) await lastValueFrom(result, { defaultValue: undefined });
        handled.resolve();
      } catch (error) {
        handled.reject(error);
      } finally {
        this.onProcessingEndHook?.(this.transportId, context);
      }
    });
    return handled.promise;
  }

  private consumeInputs(consumer: InputConsumer): ReturnType<Buses['inputs']['consume']> {
    this.consumers.inputs = consumer;
    return this.given.inputs.consume({
      assigned: (assignment) => {
        this.live.add(nameOf(assignment));
        consumer.assigned(assignment);
      },
      revoked: (assignment) => {
        this.live.delete(nameOf(assignment));
        return consumer.revoked(assignment);
      },
      busy: () => this.waiting >= waitingMax || consumer.busy(),
      deliver: (assignment, delivery) => this.deliver(assignment, delivery),
    });
  }

  private consumeWork<Topic extends keyof WorkTopics>(
    topic: Topic,
    handle: WorkHandler<Topic>,
    shares?: WorkShares,
  ): ReturnType<Buses['work']['consume']> {
    Object.assign(this.consumers, { [topic]: handle });
    return this.given.work.consume(
      topic,
      (message, place) =>
        this.handleEvent(topic, { pattern: topic, data: message }, new WorkContext(topic, message, place)),
      shares,
    );
  }

  /** (T2) */
  private deliver(assignment: Assignment, delivery: ThreadDelivery): void {
    const { partition } = assignment;
    const before = this.last.get(partition);
    this.waiting += 1;
    const taken =
      before === undefined ? this.take(assignment, delivery) : before.then(() => this.take(assignment, delivery));
    this.last.set(partition, taken);
    void taken.finally(() => {
      this.waiting -= 1;
      if (this.last.get(partition) === taken) this.last.delete(partition);
    });
  }

  /** (T3) */
  private async take(assignment: Assignment, delivery: ThreadDelivery): Promise<void> {
    const topic: RecordTopic = 'inputs';
    const context = new InputContext(delivery, assignment);
    for (let delayMs = retryMsFirst; this.live.has(nameOf(assignment)); delayMs = Math.min(2 * delayMs, retryMsMax)) {
      try {
        return await this.handleEvent(topic, { pattern: topic, data: delivery }, context);
      } catch (error) {
        if (delayMs === retryMsFirst)
          this.log.error('record_not_handled', { ...context.getThread(), topic, reason: String(error) });
        await sleep(delayMs, undefined, { ref: false });
      }
    }
  }
}
