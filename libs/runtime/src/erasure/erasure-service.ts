// Carries out erasures, in steps of which each may be repeated: what is to be done follows from what is stored.
//
// Invariants:
//   R1. The steps: the threads are found and noted; each is closed, and its log says that its contents are erased, as
//       do the logs of threads that were forked from them; the keys of whole families are destroyed; bodies that no key
//       seals are emptied; what was derived or stored beside the log is removed; freed space is overwritten; the
//       certificate is signed.
//   R2. Between the keys and the copies every process has had time to forget the keys: what it writes until then is
//       removed, and what comes later is stored without content.
//   R3. A thread that waits for an operator (parked) is erased as it is: it cannot take the event.
//   R4. Several processes may work on one erasure: every step is the same for all, and one certificate is stored.
//   R5. One that fails is begun again, and holds up no other.
import type {
  Clock,
  ErasureRecord,
  Logger,
  Sealer,
  Stores,
  ThreadRow,
  TenantId,
  UserCredential,
} from '@dormouse/ports';
import { inputIds } from '@dormouse/thread';
import { everyItemAfter } from '../every-item.ts';
import { faultCode } from '../fault-code.ts';
import type { AuditSigner } from '../audit/audit-api.ts';
import { inputIdOf, nameOfText, publicId } from '../ingress-gateway/access/client-id.ts';
import type { FamilyKeyring } from '../sealed/family-keyring.ts';
import { createRepeatedService } from '../repeated-service.ts';
import type { Service } from '../service.ts';
import { certificateOf } from './certificate.ts';
import { emptied } from './emptied-log.ts';
import { erasureOwner } from './erasure-api.ts';
import { createErasureTargets } from './erasure-targets.ts';
import { isUserName, type UserNames } from './user-name.ts';

type ErasureStores = Pick<
  Stores,
  | ('erasures' | 'directory' | 'log' | 'tenantLog' | 'inputs' | 'parked' | 'remover' | 'contentEraser')
  | ('blobs' | 'userCredentials' | 'restingThreads')
>;

export interface ErasureServiceDeps extends ErasureStores {
  /** The log as it is stored. */
  readonly stored: Pick<Stores, 'log'>;
  readonly keyring: Pick<FamilyKeyring, 'erase'>;
  /** How long a process may remember a key. */
  readonly keyKeptMs: number;
  readonly userNames: UserNames;
  readonly sealer: Sealer;
  readonly signer: AuditSigner;
  readonly clock: Clock;
  readonly logger: Logger;
}

const lookEveryMs = 1_000;
const atOnce = 100;

export function createErasureService(deps: ErasureServiceDeps): Service {
  const { erasures, log, stored, keyring, keyKeptMs, clock, logger } = deps;
  const { contentEraser, remover, userCredentials, userNames, parked, inputs, sealer, signer } = deps;
  const targets = createErasureTargets(deps);
  const stopped = new AbortController();

  /** Notes the roots, before anything that they are found by is removed. (R1) */
  async function noted(erasure: ErasureRecord): Promise<ErasureRecord | null> {
    if (erasure.scope !== 'user' || erasure.families.length > 0 || erasure.keysErasedAt !== null) return erasure;
    const userId = userOf(erasure);
    const families = await targets.rootsOfUser(erasure.tenant, userId);
    const next = { ...erasure, families };
    return families.length === 0 || (await erasures.replace(next, erasure)) ? next : null;
  }

  const userOf = (erasure: ErasureRecord): string =>
    erasure.sealedUser === null ? '' : sealer.open(erasureOwner(erasure), erasure.sealedUser);

  /** Whether every thread is closed, and says that its contents are erased. */
  async function areTold(erasure: ErasureRecord, rows: readonly ThreadRow[]): Promise<boolean> {
    let all = true;
    for (const row of rows) if (!(await isTold(row, erasure, erasure.scope))) all = false;
    for (const fork of await targets.forksOf(erasure.tenant, rows))
      if (!(await isTold(fork, erasure, 'inherited'))) all = false;
    return all;
  }

  async function isTold(
    row: ThreadRow,
    { id }: ErasureRecord,
    scope: ErasureRecord['scope'] | 'inherited',
  ): Promise<boolean> {
    const key = { tenant: row.tenant, thread: row.thread };
    if ((await parked.mark(key)) !== null) return true; // (R3)
    const erasure = inputIds.erasure(id);
    const [told = null] = await log.findByInputs(key, [erasure]);
    if (told !== null) return true;
    if (row.opening !== null) await inputs.publish(key, row.opening);
    else if (scope !== 'inherited' && row.status !== 'closed') await close(row, id);
    else await inputs.publish(key, { kind: 'ContentErasure', id: erasure, scope, certificate: id });
    return false;
  }

  async function close({ tenant, thread }: ThreadRow, erasure: string): Promise<void> {
    const name = nameOfText(JSON.stringify([tenant, 'erasure', erasure, 'close', thread]));
    const request = { kind: 'CloseRequest', id: inputIdOf(name), requestId: publicId('req', name) } as const;
    await inputs.publish({ tenant, thread }, request);
  }

  /** Bodies that no key seals any more, until the log is a chain to its end. (emptied-log Q3) */
  async function empty({ tenant, thread, family }: ThreadRow, families: ReadonlySet<string>): Promise<void> {
    const keepsSealed = families.has(family);
    for (;;) {
      const changed = emptied(await stored.log.read({ tenant, thread }, 0), family, keepsSealed);
      if (changed.length === 0) return;
      await contentEraser.rewrite(changed);
    }
  }

  /** Whether a commit of an earlier release is among theirs. */
  async function areClear(rows: readonly ThreadRow[]): Promise<boolean> {
    for (const { tenant, thread } of rows)
      if ((await stored.log.read({ tenant, thread }, 0, 1)).some(({ kid }) => kid === null)) return true;
    return false;
  }

  async function removeCredentials(tenant: TenantId, user: string): Promise<void> {
    for (const userId of isUserName(user) ? await usersNamed(tenant, user) : [user])
      for (const { toolServer } of await userCredentials.list(tenant, userId))
        await userCredentials.remove(tenant, userId, toolServer);
  }

  /** Users with credentials that the name fits: a restore has brought them back, and their ids are not known. */
  async function usersNamed(tenant: TenantId, name: string): Promise<ReadonlySet<string>> {
    const users = new Set<string>();
    const all = everyItemAfter<UserCredential>(atOnce, (after) => userCredentials.page(tenant, after, atOnce));
    for await (const { userId } of all) if (userNames.of(tenant, userId).includes(name)) users.add(userId);
    return users;
  }

  async function work(given: ErasureRecord): Promise<void> {
    const erasure = await noted(given);
    if (erasure === null) return; // (R4) another process has noted it
    const { tenant } = erasure;
    const rows = await targets.below(tenant, erasure.families);
    if (!(await areTold(erasure, rows))) return;
    await targets.removeSharedBlobs(tenant, rows); // as long as the log can be read
    const families = new Set(rows.filter(({ parent }) => parent === null).map(({ thread }) => thread));
    await keyring.erase(tenant, [...families]);
    if (erasure.keysErasedAt === null) {
      const keysErasedAt = clock.now();
      const wasClear = await areClear(rows);
      await erasures.replace({ ...erasure, keysErasedAt, threads: rows.length, wasClear }, erasure);
      return;
    }
    if (Number.isFinite(keyKeptMs) && clock.now() - erasure.keysErasedAt < keyKeptMs) return; // (R2)
    await targets.removeInheritedLabels(tenant, rows);
    for (const row of rows) await empty(row, families);
    const threads = rows.map(({ thread }) => thread);
    await remover.remove(tenant, threads, 'copies');
    if (erasure.scope === 'user') await removeCredentials(tenant, userOf(erasure));
    await contentEraser.scrub(erasure.wasClear);
    const certificate = certificateOf(erasure, clock.now(), contentEraser.traces, signer);
    const done = { ...erasure, sealedUser: null, certificate: JSON.stringify(certificate) };
    if (await erasures.replace(done, erasure))
      logger.info('erasure_done', { tenant, erasure: erasure.id, threads: rows.length });
  }

  function report(error: unknown, { tenant, id }: Pick<ErasureRecord, 'tenant' | 'id'>): void {
    logger.warn('erasure_failing', { code: faultCode(error), tenant, erasure: id });
  }

  function unread(error: unknown): readonly ErasureRecord[] {
    logger.warn('erasure_failing', { code: faultCode(error) });
    return [];
  }

  async function look(): Promise<void> {
    for (const erasure of await erasures.running(atOnce).catch(unread))
      if (!stopped.signal.aborted) await work(erasure).catch((error: unknown) => report(error, erasure)); // (R5)
  }

  return createRepeatedService({ clock, stopped, everyMs: lookEveryMs }, look);
}
