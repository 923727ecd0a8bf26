// The shape of `dormouse.db` and its version. Every statement that creates something is in schema-steps/, by what it is
// about; the order of the steps is here.
//
// Invariants:
//   S1. `user_version` counts the steps applied; a database with more steps than this release knows is refused.
//   S2. A step is never edited after a release: a change of shape is a new step at the end.
//   S3. The log is `commits`, in order of arrival: kept by thread, every commit would touch a page of its own, twice
//       the bytes to sync. Races are decided by unique keys: a version of a thread, an input of a thread, a thread's
//       number.
//   S4. Tables are STRICT: what was declared is what is stored, so a row may be read by its declared type.
//   S5. What every turn adds to is keyed by the id first: ids begin with their time, so the threads of one transaction
//       meet on a few pages. Keyed by the thread first, each row would dirty a page of its own.
import { firstStep } from './schema-steps/first-step.ts';
import { idsFirst, placesBehind, inputsBehind, uniqueVersions, blobThreads, familyKeys } from './schema-steps/log.ts';
import {
  parkedThreads,
  viewsAndLogins,
  census,
  toolServerHealth,
  listsAndUsage,
  callbackCounts,
  restingThreads,
} from './schema-steps/threads.ts';
import { questions, assignees } from './schema-steps/questions.ts';
import {
  revokedTokens,
  audit,
  tenants,
  tenantLimits,
  userCredentials,
  pauses,
  erasures,
} from './schema-steps/tenants.ts';
import { webhooks, arrivals, claimsByAge } from './schema-steps/arrivals.ts';

/** 'DMSE': distinguishes Dormouse's files from others. */
export const applicationId = 0x44_4d_53_45;

export const schemaSteps: readonly string[] = [
  firstStep,
  parkedThreads,
  viewsAndLogins,
  idsFirst,
  placesBehind,
  inputsBehind,
  uniqueVersions,
  census,
  toolServerHealth,
  listsAndUsage,
  revokedTokens,
  questions,
  callbackCounts,
  audit,
  tenants,
  webhooks,
  arrivals,
  assignees,
  tenantLimits,
  userCredentials,
  blobThreads,
  restingThreads,
  claimsByAge,
  pauses,
  familyKeys,
  erasures,
];

/** Run at every opening: a claim ends with the process that held it, so each unfinished one gets the oldest time. */
export const releaseClaims =
  'UPDATE idempotency SET claimed_at = 0 WHERE status IS NULL AND claimed_at > 0; ' +
  'UPDATE webhook_readers SET holder = NULL, held_until = 0 WHERE holder IS NOT NULL';
