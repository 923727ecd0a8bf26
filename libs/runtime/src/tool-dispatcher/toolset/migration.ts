// Carries a migration out: first every destination must answer and offer the tools, then each server that needs it gets
// one `/migrate`, one server after the other. RAP migration
//
// Invariants:
//   M1. `/migrate` goes to the address of before, only to servers whose manifest says `needsMigration`. R101
//   M2. It is claimed before it is sent, once. A repetition gets the recorded outcome, or waits for it as long as the
//       request may take; after that the outcome is unknown, and the migration has failed.
//   M3. Any problem ends the migration with all problems named; nothing is moved. R103
//   M4. When a server refuses, the servers that have already handed over are asked back: each destination gets a
//       `/migrate` to the old address, which is the protocol's own way. Only a server that does not come back is named
//       as migrated.
import type { Place } from '@dormouse/collections';
import type {
  Clock,
  Entropy,
  Owed,
  SendOutcome,
  Stores,
  TenantId,
  ThreadKey,
  ToolServer,
  ToolTransport,
} from '@dormouse/ports';
import { encodeMigrate, toolServerUrl } from '@dormouse/protocol';
import { inputIds, type MigrateToolServers, type MigrationResult } from '@dormouse/thread';
import type { Manifests } from './manifest.ts';
import { atAddress, type Registrations } from '../registrations.ts';

export interface MigrationDeps extends Pick<Stores, 'ledger'> {
  readonly registrations: Registrations;
  readonly manifests: Manifests;
  readonly transport: ToolTransport;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly settings: { readonly migrationTimeoutMs: number };
  /** Given back while the outcome of another process's request is waited for. */
  readonly place: Place;
}

/** Poll interval for the outcome of another process's request, and how long to wait beyond that request's own time. */
const askAgainMs = 1_000;
const claimGraceMs = 10_000;

interface Move {
  readonly from: ToolServer;
  readonly to: ToolServer;
  readonly needsMigration: boolean;
}

/** @throws Fault when a store fails. */
export async function migrateToolServers(
  deps: MigrationDeps,
  owed: Owed<MigrateToolServers>,
): Promise<MigrationResult> {
  const { tenant, effect } = owed;
  const { migrationId } = effect;
  const id = inputIds.migration(migrationId);
  const moves: Move[] = [];
  const problems: string[] = [];
  for (const [name, destination] of Object.entries(effect.toolServers)) {
    const found = await connect(deps, tenant, name, destination, effect);
    if (typeof found === 'string') problems.push(`${name}: ${found}`);
    else moves.push(found);
  }
  const migrated: Move[] = [];
  for (const move of moves) {
    if (problems.length > 0) break; // (M3)
    if (!move.needsMigration) continue; // (M1)
    const problem = await postMigrate(deps, owed, move, `${effect.id}:${move.from.name}`);
    if (problem === null) migrated.push(move);
    else problems.push(`${move.from.name}: ${problem}`);
  }
  const gone = problems.length === 0 ? migrated : await askBack(deps, owed, migrated, problems);
  return { kind: 'MigrationResult', id, migrationId, migrated: gone.map(({ from }) => from.name), problems };
}

/** Servers that did not come back; the reasons are added to the problems. (M4) */
async function askBack(
  deps: MigrationDeps,
  owed: Owed<MigrateToolServers>,
  migrated: readonly Move[],
  problems: string[],
): Promise<readonly Move[]> {
  const gone: Move[] = [];
  for (const move of migrated) {
    const back = { ...move, from: move.to, to: move.from };
    const problem = await postMigrate(deps, owed, back, `${owed.effect.id}:${move.from.name}:back`);
    if (problem === null) continue;
    gone.push(move);
    problems.push(`${move.from.name}: has handed over to ${move.to.baseUrl}, and that ${problem}`);
  }
  return gone;
}

/** The destination must offer a toolset before any server gets `/migrate`. R102 */
async function connect(
  { registrations, manifests }: MigrationDeps,
  tenant: TenantId,
  name: string,
  destination: string,
  effect: MigrateToolServers,
): Promise<Move | string> {
  const registered = await registrations.get(tenant, name);
  if (registered === null) return 'is not registered';
  const from = atAddress(registered, effect);
  const to = { ...registered, baseUrl: destination, endpointOverride: null };
  const before = await manifests.probe(from);
  if (!before.ok) return `does not answer at its present address: ${before.rejection.problems.join('; ')}`;
  const after = await manifests.probe(to);
  if (!after.ok) return `the destination is not usable: ${after.rejection.problems.join('; ')}`;
  return { from, to, needsMigration: before.manifest.toolset.needsMigration === true };
}

async function postMigrate(
  deps: MigrationDeps,
  { tenant, thread, effect }: Owed<MigrateToolServers>,
  { from, to }: Move,
  subject: string,
): Promise<string | null> {
  const { ledger, transport, clock, entropy, settings } = deps;
  const key: ThreadKey = { tenant, thread };
  if (!(await ledger.claim(key, subject, entropy.nonce(), clock.now()))) return outcomeOfOther(deps, key, subject);
  const outcome = await transport.post({
    server: from,
    url: toolServerUrl(from.baseUrl, 'migrate'),
    body: JSON.stringify(encodeMigrate({ sessionId: effect.session, destinationUrl: to.baseUrl })),
    headers: { 'idempotency-key': subject },
    timeoutMs: settings.migrationTimeoutMs,
  });
  const problem = problemOf(outcome);
  await ledger.settle(key, subject, problem === null ? 'sent' : 'refused', problem);
  return problem;
}

function problemOf(outcome: SendOutcome): string | null {
  if (!outcome.sent) return `could not be told to migrate: ${outcome.code}`;
  return outcome.status >= 200 && outcome.status < 300 ? null : `refused to migrate: HTTP ${outcome.status}`;
}

/** (M2) */
async function outcomeOfOther(
  { ledger, clock, settings, place }: MigrationDeps,
  key: ThreadKey,
  subject: string,
): Promise<string | null> {
  for (;;) {
    const entry = await ledger.read(key, subject);
    if (entry?.outcome === 'sent') return null;
    if (entry?.outcome === 'refused') return entry.detail ?? 'refused to migrate';
    if (clock.now() - (entry?.claimedAt ?? 0) > settings.migrationTimeoutMs + claimGraceMs)
      return 'an earlier request to migrate has an unknown outcome';
    await place.releasedDuring(() => clock.sleep(askAgainMs));
  }
}
