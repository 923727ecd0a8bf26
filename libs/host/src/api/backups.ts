// Backups of a process that runs everything: requests, answers and operations.
import { z } from 'zod';
import { nullableTime, time } from './field.ts';
import { installationAdmin, operationsOf } from './operation.ts';

export const newBackup = z.strictObject({ directory: z.string().min(1).max(4_096) }).meta({
  id: 'NewBackup',
  description: 'An absolute path on the machine of the process: of a directory that is empty or not there.',
});

export const backup = z
  .object({
    directory: z.string(),
    state: z.enum(['copying', 'done', 'failed']),
    reason: z.string().nullable(),
    began_at: time.describe('Everything that was acknowledged before is in the copy.'),
    ended_at: nullableTime,
    bytes_done: z.int(),
    bytes_total: z.int(),
    left_out: z.array(z.string()).describe('Directories inside the data directory that are not part of it.'),
  })
  .meta({ id: 'Backup', description: 'A copy of the data directory that is being written, or was.' });

export const backupOperations = operationsOf('operations', {
  beginBackup: {
    route: 'POST /v1/backup',
    summary: 'Copy the running process into a directory; standalone, and from the same machine only',
    access: installationAdmin,
    body: newBackup,
    answers: { 202: backup },
    problems: ['NOT_FOUND', 'ALREADY_EXISTS'],
  },
  getBackup: {
    route: 'GET /v1/backup',
    summary: 'How far the backup is, or how the last one ended',
    access: installationAdmin,
    answers: { 200: backup },
    problems: ['NOT_FOUND'],
  },
});
