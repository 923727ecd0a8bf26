// Erasures as a client asks for them: of a thread with all below it, of a family, or of an end user.
//
// Invariants:
//   E1. An erasure is named by what it erases: asked again, it is the same one. Of a user whose last erasure is done
//       and who has threads again, the next one is another.
//   E2. A user's id is in no erasure that is done; while one runs it is sealed.
import type { ErasureRecord, Page, PageRequest, TenantId } from '@dormouse/ports';
import type { IngressParts } from '../ingress-gateway/ingress-ports.ts';
import { nameOfText, publicId } from '../ingress-gateway/access/client-id.ts';
import { answered, type Answered, notFound, refused } from '../ingress-gateway/refusal.ts';
import type { Certificate } from './certificate.ts';
import { isUserName, type UserNames } from './user-name.ts';

export type ErasureTarget = { readonly threadId: string } | { readonly userId: string };

export interface ShownErasure extends Pick<ErasureRecord, 'id' | 'scope' | 'subject' | 'requestedAt' | 'threads'> {
  readonly state: 'running' | 'done';
  readonly certificate: Certificate | null;
}

export interface ErasureApi {
  request(tenant: TenantId, target: ErasureTarget): Promise<Answered<ShownErasure>>;
  /** Of a closed thread, as `request`. */
  remove(tenant: TenantId, thread: string): Promise<Answered<ShownErasure>>;
  get(tenant: TenantId, id: string): Promise<Answered<ShownErasure>>;
  list(tenant: TenantId, page: PageRequest): Promise<Page<ShownErasure>>;
}

export interface ErasureApiPorts extends Pick<IngressParts, 'erasures' | 'directory' | 'sealer' | 'clock'> {
  readonly userNames: UserNames;
}

/** Owner of a user's id in an erasure. */
export const erasureOwner = ({ tenant, id }: Pick<ErasureRecord, 'tenant' | 'id'>) => ({
  tenant,
  name: `erasure:${id}`,
});

const generationsMax = 1_000;

export function createErasureApi(ports: ErasureApiPorts): ErasureApi {
  const { erasures, directory, userNames, sealer, clock } = ports;

  function idOf(tenant: TenantId, subject: string, generation: number): string {
    const parts = [tenant, 'erasure', subject, ...(generation === 0 ? [] : [generation])];
    return publicId('ers', nameOfText(JSON.stringify(parts)));
  }

  const recordOf = (
    tenant: TenantId,
    id: string,
    parts: Pick<ErasureRecord, 'scope' | 'subject' | 'sealedUser' | 'families'>,
  ): ErasureRecord => ({
    ...{ tenant, id, requestedAt: clock.now(), keysErasedAt: null, threads: 0, wasClear: false, certificate: null },
    ...parts,
  });

  async function ofThread(tenant: TenantId, thread: string): Promise<Answered<ShownErasure>> {
    const row = await directory.get({ tenant, thread });
    if (row === null) return notFound('thread');
    const scope = row.parent === null ? 'family' : 'thread';
    const parts = { scope, subject: thread, sealedUser: null, families: [thread] } as const;
    return answered(shown(await erasures.insert(recordOf(tenant, idOf(tenant, thread, 0), parts)))); // (E1)
  }

  async function ofUser(tenant: TenantId, userId: string): Promise<Answered<ShownErasure>> {
    const names = isUserName(userId) ? [userId] : userNames.of(tenant, userId);
    for (let generation = 0; generation < generationsMax; generation += 1) {
      const before = await known(tenant, names, generation);
      if (before === null) return answered(shown(await insertUser(tenant, userId, names[0] ?? userId, generation)));
      const isOver = before.certificate !== null && !isUserName(userId);
      if (!isOver || (await directory.list(tenant, { userId }, { limit: 1, cursor: null })).data.length === 0)
        return answered(shown(before)); // (E1)
    }
    return notFound('user');
  }

  /** Named under any key. (user-name U1) */
  async function known(tenant: TenantId, names: readonly string[], generation: number): Promise<ErasureRecord | null> {
    for (const name of names) {
      const found = await erasures.get(tenant, idOf(tenant, name, generation));
      if (found !== null) return found;
    }
    return null;
  }

  function insertUser(tenant: TenantId, userId: string, subject: string, generation: number): Promise<ErasureRecord> {
    const id = idOf(tenant, subject, generation);
    const sealedUser = sealer.seal(erasureOwner({ tenant, id }), userId); // (E2)
    return erasures.insert(recordOf(tenant, id, { scope: 'user', subject, sealedUser, families: [] }));
  }

  return {
    request: (tenant, target) =>
      'threadId' in target ? ofThread(tenant, target.threadId) : ofUser(tenant, target.userId),
    async remove(tenant, thread) {
      const row = await directory.get({ tenant, thread });
      if (row === null) return notFound('thread');
      return row.status === 'closed' ? ofThread(tenant, thread) : refused('THREAD_OPEN', 'This thread is not closed.');
    },
    async get(tenant, id) {
      const found = await erasures.get(tenant, id);
      return found === null ? notFound('erasure') : answered(shown(found));
    },
    async list(tenant, page) {
      const found = await erasures.list(tenant, page);
      return { ...found, data: found.data.map(shown) };
    },
  };
}

const shown = ({ id, scope, subject, requestedAt, threads, certificate }: ErasureRecord): ShownErasure => ({
  ...{ id, scope, subject, requestedAt, threads },
  state: certificate === null ? 'running' : 'done',
  certificate: certificate === null ? null : (JSON.parse(certificate) as Certificate),
});
