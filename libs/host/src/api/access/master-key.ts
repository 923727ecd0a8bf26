// The master key of the installation: what is left to do after its rotation.
import { z } from 'zod';
import { nullableTime } from '../field.ts';
import { installationAdmin, operationsOf } from '../operation.ts';

export const resealing = z
  .object({
    kid: z.string().meta({ description: 'Names the master key in use, without revealing it.' }),
    since: nullableTime.meta({ description: 'From when it is used; null for the first one.' }),
    next_at: nullableTime.meta({ description: 'When the next master key comes into use; null when there is none.' }),
    resealed: z.int().meta({ description: 'How many values this request has sealed again.' }),
    unreadable: z
      .array(z.object({ tenant: z.string(), name: z.string() }))
      .meta({ description: 'Values that no master key opens: set them again.' }),
    done: z.boolean().meta({ description: 'False: send it again.' }),
  })
  .meta({ id: 'Resealing', description: 'How far the stored secrets are sealed with the master key in use.' });

export const masterKeyOperations = operationsOf('operations', {
  resealSecrets: {
    route: 'POST /v1/master-key/reseal',
    summary: 'Seal stored secrets of all tenants again with the master key in use',
    access: installationAdmin,
    audit: { action: 'master_key.rotated' },
    answers: { 200: resealing },
  },
});
