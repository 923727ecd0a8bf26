// Installation-wide operations, and the list of all operations.
import { z } from 'zod';
import { erasureOperations } from './access/erasures.ts';
import { masterKeyOperations } from './access/master-key.ts';
import { userCredentialOperations } from './access/user-credentials.ts';
import { agentOperations } from './agents.ts';
import { apiKeyOperations } from './api-keys.ts';
import { agUiOperations } from './ag-ui.ts';
import { aiSdkOperations } from './ai-sdk.ts';
import { auditOperations } from './audit.ts';
import { backupOperations } from './backups.ts';
import { choiceOperations } from './choices.ts';
import { linkOperations } from './people/links.ts';
import { messageOperations } from './messages.ts';
import { modelOperations } from './models.ts';
import { installationAdmin, type Operation, operationsOf } from './operation.ts';
import { parkedOperations } from './parked.ts';
import { reconcileOperations } from './reconcile.ts';
import { secretOperations } from './secrets.ts';
import { sessionOperations } from './sessions.ts';
import { tenantOperations } from './tenants.ts';
import { tenantEventOperations } from './tenant-events.ts';
import { threadDetailOperations } from './thread-details.ts';
import { threadOperations } from './threads.ts';
import { threadTokenOperations } from './thread-tokens.ts';
import { toolServerOperations } from './tool-servers.ts';
import { externalEventOperations } from './hooks/external-events.ts';
import { scheduleOperations } from './hooks/schedules.ts';
import { sourceOperations } from './hooks/sources.ts';
import { usageOperations } from './usage.ts';
import { webhookOperations } from './hooks/webhooks.ts';

export const clockAdvance = z
  .strictObject({
    advance_ms: z
      .int()
      .min(0)
      .max(3_650 * 86_400_000),
  })
  .meta({ id: 'ClockAdvance' });

export const systemOperations = operationsOf('development', {
  advanceClock: {
    route: 'POST /v1/dev/clock',
    summary: 'Move the development clock; standalone on loopback only',
    access: installationAdmin,
    body: clockAdvance,
    answers: { 200: z.object({ now: z.iso.datetime() }).meta({ id: 'ClockReading' }) },
  },
});

/** By their names, in the order of the OpenAPI document. */
export const operations = {
  ...agentOperations,
  ...modelOperations,
  ...secretOperations,
  ...toolServerOperations,
  ...threadOperations,
  ...tenantEventOperations,
  ...messageOperations,
  ...threadDetailOperations,
  ...choiceOperations,
  ...linkOperations,
  ...aiSdkOperations,
  ...agUiOperations,
  ...threadTokenOperations,
  ...parkedOperations,
  ...backupOperations,
  ...reconcileOperations,
  ...usageOperations,
  ...auditOperations,
  ...erasureOperations,
  ...sessionOperations,
  ...apiKeyOperations,
  ...tenantOperations,
  ...webhookOperations,
  ...systemOperations,
  ...sourceOperations,
  ...externalEventOperations,
  ...scheduleOperations,
  ...masterKeyOperations,
  ...userCredentialOperations,
};

export const allOperations: readonly Operation[] = Object.values(operations);
