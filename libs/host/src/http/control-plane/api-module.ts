// The Nest module: the controllers, and the few values that are injected into them by name.
import type { ModelCatalog } from '@dormouse/adapter-model';
import type { Clock } from '@dormouse/ports';
import type { Ingress } from '@dormouse/runtime';
import { type DynamicModule, Module } from '@nestjs/common';
import type { Backups } from '../../backup/backups.ts';
import { LinkController } from '../people/link-controller.ts';
import { ErasureController } from './access/erasure-controller.ts';
import { MasterKeyController } from './access/master-key-controller.ts';
import { UserCredentialController } from './access/user-credential-controller.ts';
import { AgentController } from './agent-controller.ts';
import { ApiKeyController } from './api-key-controller.ts';
import { AuditController } from './audit-controller.ts';
import { BackupController } from './backup-controller.ts';
import { ModelController } from './model-controller.ts';
import { ChoiceController } from './choice-controller.ts';
import { ParkedController } from './parked-controller.ts';
import { SecretController } from './secret-controller.ts';
import { SystemController } from './system-controller.ts';
import { TenantController } from './tenant-controller.ts';
import { ThreadController } from './thread-controller.ts';
import { ThreadDetailController } from './thread-detail-controller.ts';
import { ThreadTokenController } from './thread-token-controller.ts';
import { ToolServerController } from './tool-server-controller.ts';
import type { MasterKeys } from '../../platform/master-keys.ts';
import type { ProcessClock } from '../../platform/process-clock.ts';
import { ExternalEventController } from '../hooks/external-event-controller.ts';
import { ScheduleController } from '../hooks/schedule-controller.ts';
import { SourceController } from '../hooks/source-controller.ts';
import { UsageController } from './usage-controller.ts';
import { WebhookController } from './hooks/webhook-controller.ts';
import { BACKUPS, CLOCK, DEV_CLOCK, INGRESS, MASTER_KEYS, MODELS, PUBLIC_URL } from './tokens.ts';

export interface ApiParts {
  readonly ingress: Ingress;
  readonly models: ModelCatalog;
  readonly clock: Clock;
  /** Null where time must not be moved. */
  readonly devClock: ProcessClock | null;
  /** Null where the stores are elsewhere. Default: null. */
  readonly backups?: Backups | null;
  /** The address that people use, without a slash at the end. Null: the one that a request went to. Default: null. */
  readonly publicUrl?: string | null;
  /** Default: null. */
  readonly masterKeys?: MasterKeys | null;
}

@Module({})
export class ApiModule {
  static over({
    ingress,
    models,
    clock,
    devClock,
    backups = null,
    publicUrl = null,
    masterKeys = null,
  }: ApiParts): DynamicModule {
    return {
      module: ApiModule,
      controllers: [
        AgentController,
        ModelController,
        SecretController,
        ToolServerController,
        ThreadController,
        ThreadDetailController,
        ThreadTokenController,
        ChoiceController,
        LinkController,
        ParkedController,
        BackupController,
        ApiKeyController,
        TenantController,
        SystemController,
        UsageController,
        AuditController,
        ErasureController,
        WebhookController,
        SourceController,
        ExternalEventController,
        ScheduleController,
        MasterKeyController,
        UserCredentialController,
      ],
      providers: [
        { provide: INGRESS, useValue: ingress },
        { provide: MODELS, useValue: models },
        { provide: CLOCK, useValue: clock },
        { provide: BACKUPS, useValue: backups },
        { provide: MASTER_KEYS, useValue: masterKeys },
        { provide: DEV_CLOCK, useValue: devClock },
        { provide: PUBLIC_URL, useValue: publicUrl },
      ],
    };
  }
}
