// A module of Nest for each service: its controller, and the service behind it. In a cluster each is a microservice of
// its own, bound by RecordStrategy; the standalone process composes all of them without a transport.
import type { ThreadDelivery, WorkTopics } from '@dormouse/ports';
import type { Service } from '@dormouse/runtime';
import { Controller, type DynamicModule, Inject, Module, type Type } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import type { InputContext, RecordTopic, WorkContext } from './record-context.ts';
import type { RecordConsumers } from './record-strategy.ts';

export const CONSUMERS = Symbol('record consumers');
export const SERVICE = Symbol('service');

/** A record that no service takes fails: it is given again, and no offset passes it. */
function subscribed<Consumer>(consumer: Consumer | null, topic: RecordTopic): Consumer {
  if (consumer === null) throw new Error(`No service of this process has subscribed to "${topic}".`);
  return consumer;
}

@Controller()
export class InputsController {
  constructor(@Inject(CONSUMERS) private readonly consumers: RecordConsumers) {}

  @EventPattern<RecordTopic>('inputs')
  take(@Payload() delivery: ThreadDelivery, @Ctx() { assignment }: InputContext): void {
    subscribed(this.consumers.inputs, 'inputs').deliver(assignment, delivery);
  }
}

@Controller()
export class DispatchesController {
  constructor(@Inject(CONSUMERS) private readonly consumers: RecordConsumers) {}

  @EventPattern<RecordTopic>('dispatches')
  async dispatch(@Payload() message: WorkTopics['dispatches'], @Ctx() { place }: WorkContext): Promise<void> {
    await subscribed(this.consumers.dispatches, 'dispatches')(message, place);
  }
}

@Controller()
export class NoticesController {
  constructor(@Inject(CONSUMERS) private readonly consumers: RecordConsumers) {}

  @EventPattern<RecordTopic>('notices')
  async notify(@Payload() message: WorkTopics['notices'], @Ctx() { place }: WorkContext): Promise<void> {
    await subscribed(this.consumers.notices, 'notices')(message, place);
  }
}

/** A service, and who hands it records; null where the service subscribes to its bus itself. */
interface ServiceParts {
  readonly service: Service;
  readonly consumers: RecordConsumers | null;
}

const noConsumers: RecordConsumers = { inputs: null, dispatches: null, notices: null };

/** `controllers`: of the records that its service takes. */
function serviceModule(...controllers: Type[]) {
  @Module({})
  class ServiceModule {
    static over({ service, consumers }: ServiceParts): DynamicModule {
      return {
        module: ServiceModule,
        controllers,
        providers: [
          { provide: SERVICE, useValue: service },
          { provide: CONSUMERS, useValue: consumers ?? noConsumers },
        ],
        exports: [SERVICE],
      };
    }
  }
  return ServiceModule;
}

export const ThreadProcessorModule = serviceModule(InputsController);
export const ToolDispatcherModule = serviceModule(DispatchesController);
export const NotifierModule = serviceModule(NoticesController);
/** Has no topic: it looks for inputs that were never published. */
export const InputSweeperModule = serviceModule();
