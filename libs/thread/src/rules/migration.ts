// Moves a family's tool servers to other addresses, all or nothing. RAP migration
//
// Order (R102): the loop stops (`MigrationStarted`), the destinations are checked, the servers that need it migrate,
// the thread waits for all of that, then it uses the new addresses (`MigrationEnded`), or goes on with the old ones.
//
// Invariants:
//   G1. While a migration runs no completion is requested and no child opens; messages and events queue, other arrivals
//       are recorded.
//   G2. Addresses change only in the commit that ends a successful migration. R103
import type { StableRefusal } from '../decision.ts';
import type { Draft } from '../draft.ts';
import { inputIds, type MigrationRequest, type MigrationResult } from '../input.ts';
import { openQueuedChildren } from './child.ts';
import { loadToolsets } from './opening.ts';
import { refuseRequest } from './refusal.ts';
import { wake } from './wake.ts';

export function startMigration(draft: Draft, input: MigrationRequest): void {
  const problem = obstacleOf(draft, input);
  if (problem !== null) return refuseRequest(draft, input, problem.code, problem.detail);
  const { toolServers } = input;
  const migrationId = draft.mint('mig');
  draft.emit({ type: 'MigrationStarted', migrationId, toolServers });
  const session = draft.thread.id;
  draft.owe({ do: 'MigrateToolServers', id: inputIds.migration(migrationId), migrationId, session, toolServers });
}

function obstacleOf(
  { thread }: Draft,
  { toolServers }: MigrationRequest,
): { readonly code: string; readonly detail: string } | null {
  const unknown = Object.keys(toolServers).filter((name) => !thread.toolServers.includes(name));
  if (unknown.length > 0)
    return { code: 'INVALID_BODY', detail: `the thread’s agent has no tool server ${unknown.join(', ')}` };
  if (thread.parent !== null) return { code: 'INVALID_BODY', detail: 'a family is migrated at its root thread' };
  const isBusy =
    thread.completion !== null ||
    thread.loading !== null ||
    thread.migrating !== null ||
    thread.calls.length > 0 ||
    Object.keys(thread.children).length > 0;
  const detail = 'something is running: wait until the thread and its children are idle, or interrupt';
  return isBusy ? { code: 'CALLS_PENDING', detail } : null;
}

export function endMigration(draft: Draft, input: MigrationResult): StableRefusal | void {
  const { migrationId, problems, migrated } = input;
  if (draft.thread.migrating?.migrationId !== migrationId) return 'NOT_MIGRATING';
  const ok = problems.length === 0;
  draft.emit({ type: 'MigrationEnded', migrationId, ok, migrated, problems }); // (G2)
  if (ok) loadToolsets(draft);
  openQueuedChildren(draft);
  wake(draft);
}
