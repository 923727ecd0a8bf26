import 'reflect-metadata';
import { createManualClock, createMemoryWorld, type MemoryPorts } from '@dormouse/adapter-memory';
import { tenantId, type InputConsumer, type Logger, type ThreadDelivery } from '@dormouse/ports';
import type { Service } from '@dormouse/runtime';
import { type CanActivate, type ExecutionContext, type INestMicroservice, type NestInterceptor } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { PassOnFilter } from './pass-on-filter.ts';
import type { RecordContext } from './record-context.ts';
import { RecordStrategy } from './record-strategy.ts';
import { ThreadProcessorModule, ToolDispatcherModule } from './service-modules.ts';

const key = { tenant: tenantId('acme'), thread: 'thr_1' };
const message = (id: string) =>
  ({ kind: 'UserMessage', id: `c:${id}`, messageId: id, content: [{ type: 'text', text: id }] }) as const;
const dispatch = (id: string) =>
  ({ ...key, at: 0, trace: null, effect: { do: 'WithdrawCall', id, toolCallId: id } }) as const;

const clock = createManualClock();
let app: INestMicroservice | null = null;
afterEach(async () => {
  await app?.close();
  app = null;
});

interface Rig {
  readonly strategy: RecordStrategy;
  readonly errors: string[];
  readonly ports: MemoryPorts;
  readonly start: (service: Service, enhance?: (made: INestMicroservice) => void) => Promise<void>;
}

/** As a bus may: an assignment is known by its partition and generation, not by the object. */
function copyingAssignments(ports: MemoryPorts): MemoryPorts {
  const consume: MemoryPorts['inputs']['consume'] = (consumer) =>
    ports.inputs.consume({
      assigned: (assignment) => consumer.assigned({ ...assignment }),
      revoked: (assignment) => consumer.revoked({ ...assignment }),
      busy: () => consumer.busy(),
      deliver: (assignment, delivery) => consumer.deliver({ ...assignment }, delivery),
    });
  return { ...ports, inputs: { ...ports.inputs, consume } };
}

function rig(of: 'inputs' | 'work' = 'inputs'): Rig {
  const ports = copyingAssignments(createMemoryWorld({ clock }).ports('p1'));
  const errors: string[] = [];
  const logger: Logger = { info: () => {}, warn: () => {}, error: (event) => void errors.push(event) };
  const strategy = new RecordStrategy(ports, logger, 1_000);
  return {
    strategy,
    errors,
    ports,
    start: async (service, enhance = () => {}) => {
      strategy.run([service]);
      const module = of === 'inputs' ? ThreadProcessorModule : ToolDispatcherModule;
      const root = module.over({ service, consumers: strategy.consumers });
      app = await NestFactory.createMicroservice(root, { strategy, logger: false, abortOnError: false });
      app.useGlobalFilters(new PassOnFilter());
      enhance(app);
      await app.listen();
    },
  };
}

/** Decides and releases each input that it is given. */
function taking(strategy: RecordStrategy, taken: string[]): Service {
  const consumer: InputConsumer = {
    assigned: () => {},
    revoked: async () => {},
    busy: () => false,
    deliver: (_assignment, delivery: ThreadDelivery) => {
      if (delivery.what === 'input') taken.push(delivery.input.id);
      delivery.decided(null);
      delivery.release();
    },
  };
  return {
    start: async () => void (await strategy.buses.inputs.consume(consumer)),
    stop: async () => {},
  };
}

class Guard implements CanActivate {
  readonly seen: string[] = [];
  private refusals: number;

  constructor(refusals: number) {
    this.refusals = refusals;
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const record = context.switchToRpc().getContext<RecordContext>();
    this.seen.push(`${context.getType()} ${record.getTopic()} ${record.getThread().thread}`);
    await sleep(Math.random() * 3); // one that takes longer for some does not change the order
    if (this.refusals === 0) return true;
    this.refusals -= 1;
    throw new Error('not yet');
  }
}

describe('a microservice of records', () => {
  it('T1 T2 passes each input through the handler, its guards and interceptors, in order', async () => {
    const { strategy, ports, start } = rig();
    const taken: string[] = [];
    const guard = new Guard(0);
    const intercepted: string[] = [];
    const interceptor: NestInterceptor = {
      intercept: (context, next) => {
        intercepted.push((context.switchToRpc().getData<ThreadDelivery>() as { input: { id: string } }).input.id);
        return next.handle();
      },
    };
    await start(taking(strategy, taken), (made) => {
      made.useGlobalGuards(guard);
      made.useGlobalInterceptors(interceptor);
    });
    const ids = Array.from({ length: 20 }, (_, nth) => `m${nth}`);
    await Promise.all(ids.map((id) => ports.inputs.publish(key, message(id))));
    expect(taken).toEqual(ids.map((id) => `c:${id}`));
    expect(intercepted).toEqual(taken);
    expect(guard.seen).toHaveLength(20);
    expect(guard.seen[0]).toBe('rpc inputs thr_1');
  });

  it('T3 handles an input again whose guard fails, says it once, and lets nothing overtake it', async () => {
    const { strategy, errors, ports, start } = rig();
    const taken: string[] = [];
    await start(taking(strategy, taken), (made) => made.useGlobalGuards(new Guard(2)));
    await Promise.all(['m1', 'm2'].map((id) => ports.inputs.publish(key, message(id))));
    expect(taken).toEqual(['c:m1', 'c:m2']);
    expect(errors).toEqual(['record_not_handled']);
  });

  it('T3 work whose handler fails is handed out again by the bus, with what was thrown', async () => {
    const { strategy, ports, start } = rig('work');
    const handled: string[] = [];
    const service: Service = {
      start: async () =>
        void (await strategy.buses.work.consume('dispatches', async ({ effect }) => {
          handled.push(effect.id);
          if (handled.length === 1) throw new Error('once more');
        })),
      stop: async () => {},
    };
    await start(service);
    const thrown = strategy.handleEvent('nothing', { pattern: 'nothing', data: null }, {} as never);
    await expect(thrown).rejects.toThrow('No controller of this process handles "nothing".');
    const { handled: done } = await ports.work.publish('dispatches', dispatch('e1'));
    const isDone = { now: false };
    void done?.then(() => (isDone.now = true));
    await vi.waitFor(async () => {
      await clock.advance(1_000);
      expect([handled, isDone.now]).toEqual([['e1', 'e1'], true]);
    }, 20_000);
  });

  it('says its status, and gives the buses out', async () => {
    const { strategy, start } = rig();
    const said: string[] = [];
    strategy.on('status', (status) => void said.push(status));
    await start(taking(strategy, []));
    expect(said).toEqual(['connected']);
    expect(strategy.unwrap<{ inputs: object }>().inputs).toBeDefined();
    await app?.close();
    app = null;
    expect(said).toEqual(['connected', 'disconnected']);
  });
});
