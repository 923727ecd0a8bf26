// The Nest module: the controllers, and the few values that are injected into them by name.
import type { Clock } from '@dormouse/ports';
import type { Ingress } from '@dormouse/runtime';
import { type DynamicModule, Module } from '@nestjs/common';
import { AgentController } from './agent-controller.ts';
import { ParkedController } from './parked-controller.ts';
import { SecretController } from './secret-controller.ts';
import { SystemController } from './system-controller.ts';
import { ThreadController } from './thread-controller.ts';
import { ThreadDetailController } from './thread-detail-controller.ts';
import { ToolServerController } from './tool-server-controller.ts';
import type { ProcessClock } from '../../platform/process-clock.ts';
import { CLOCK, DEV_CLOCK, INGRESS } from './tokens.ts';

export interface ApiParts {
  readonly ingress: Ingress;
  readonly clock: Clock;
  /** Null where time must not be moved. */
  readonly devClock: ProcessClock | null;
}

@Module({})
export class ApiModule {
  static over({ ingress, clock, devClock }: ApiParts): DynamicModule {
    return {
      module: ApiModule,
      controllers: [
        AgentController,
        SecretController,
        ToolServerController,
        ThreadController,
        ThreadDetailController,
        ParkedController,
        SystemController,
      ],
      providers: [
        { provide: INGRESS, useValue: ingress },
        { provide: CLOCK, useValue: clock },
        { provide: DEV_CLOCK, useValue: devClock },
      ],
    };
  }
}
