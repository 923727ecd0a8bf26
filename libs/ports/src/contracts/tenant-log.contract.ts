// The contract of `TenantLog`, for every adapter.
import { afterAll, describe, expect, it } from 'vitest';
import { tenantId, type TenantId, type Commit, type PlacedCommit, type TenantLog, type ThreadLog } from '../index.ts';
import { commitOf, freshKey, freshTenant } from './samples.ts';

export interface TenantLogUnderTest {
  readonly log: ThreadLog;
  readonly tenantLog: TenantLog;
  /** The view of another process on the same data, where there may be several. */
  another?(): Promise<{ readonly log: ThreadLog; readonly tenantLog: TenantLog }>;
  close(): Promise<void>;
  /** For logs that outlive their process: closes and opens the same data again. */
  reopen?(): Promise<TenantLogUnderTest>;
}

const nameOf = ({ thread, version }: Commit): string => `${thread} ${version}`;
/** For what is seen a few seconds late. */
const patienceMs = 60_000;
const breath = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

export function tenantLogContract(name: string, make: () => Promise<TenantLogUnderTest>): void {
  describe(`TenantLog contract: ${name}`, { timeout: 2 * patienceMs }, () => {
    let opened: TenantLogUnderTest | null = null;
    const open = async (): Promise<TenantLogUnderTest> => (opened ??= await make());
    afterAll(async () => opened?.close());

    async function append(log: ThreadLog, ...commits: readonly Commit[]): Promise<void> {
      const outcomes = await log.append(commits.map((commit) => ({ commit, owes: false })));
      expect(outcomes).toEqual(commits.map(() => 'appended'));
    }

    /** Reads on from a place until `isEnough`; as many at once as `limit`. */
    async function readOn(
      tenantLog: TenantLog,
      tenant: TenantId,
      place: string | null,
      isEnough: (found: readonly PlacedCommit[]) => boolean,
      limit = 3,
    ): Promise<readonly PlacedCommit[]> {
      const found: PlacedCommit[] = [];
      const deadline = Date.now() + patienceMs;
      while (!isEnough(found)) {
        if (Date.now() > deadline) throw new Error(`only ${found.length} commits were seen`);
        const page = await tenantLog.after(tenant, found.at(-1)?.place ?? place, limit);
        expect(page.length).toBeLessThanOrEqual(limit);
        found.push(...page);
        if (page.length === 0) await breath();
      }
      return found;
    }

    const inOrderOfThreads = (found: readonly PlacedCommit[]): void => {
      const versions = new Map<string, number>();
      for (const { commit } of found) {
        expect(commit.version).toBeGreaterThan(versions.get(commit.thread) ?? -1);
        versions.set(commit.thread, commit.version);
      }
    };

    it('G1, G2: gives all threads of the tenant and no other, each commit once and whole, from any place on', async () => {
      const { log, tenantLog } = await open();
      const tenant = freshTenant();
      const keys = Array.from({ length: 5 }, () => freshKey(tenant));
      const commits = keys.flatMap((key) => [0, 1, 2].map((version) => commitOf(key, version)));
      for (const commit of commits) await append(log, commit, commitOf(freshKey(freshTenant()), 0));
      const found = await readOn(tenantLog, tenant, null, ({ length }) => length >= commits.length);
      expect(found.map(({ commit }) => nameOf(commit)).toSorted()).toEqual(commits.map(nameOf).toSorted());
      for (const { commit } of found) expect(commits.find((one) => one.nonce === commit.nonce)).toEqual(commit);
      inOrderOfThreads(found);
      for (const [nth, { place }] of found.entries()) {
        const rest = await readOn(tenantLog, tenant, place, (seen) => seen.length >= found.length - nth - 1, 50);
        const before = found.slice(0, nth + 1);
        expect([...before, ...rest].map(({ commit }) => nameOf(commit)).toSorted()).toEqual(
          commits.map(nameOf).toSorted(),
        );
      }
      expect(await tenantLog.after(tenant, found.at(-1)?.place ?? null, 10)).toEqual([]);
      expect(await tenantLog.after(freshTenant(), null, 10)).toEqual([]);
    });

    it('G3: the end is after what was answered, and before what comes then', async () => {
      const { log, tenantLog } = await open();
      const tenant = freshTenant();
      const key = freshKey(tenant);
      const start = await tenantLog.end(tenant);
      await append(log, commitOf(key, 0), commitOf(key, 1), commitOf(freshKey(tenant), 0));
      expect(await readOn(tenantLog, tenant, start, ({ length }) => length >= 3)).toHaveLength(3);
      const end = await tenantLog.end(tenant);
      expect(await tenantLog.after(tenant, end, 10)).toEqual([]);
      const next = commitOf(key, 2);
      await append(log, next);
      const found = await readOn(tenantLog, tenant, end, ({ length }) => length >= 1);
      expect(found.map(({ commit }) => commit)).toEqual([next]);
    });

    it('G6: names the tenants of many places behind which something has come', async () => {
      const { log, tenantLog } = await open();
      const tenants = Array.from({ length: 20 }, freshTenant);
      const quiet = new Set(tenants.filter((_, nth) => nth % 3 > 0));
      await append(log, ...tenants.map((tenant) => commitOf(freshKey(tenant), 0)));
      const places = await Promise.all(
        tenants.map(async (tenant) => {
          const [last] = await readOn(tenantLog, tenant, null, ({ length }) => length === 1);
          return { tenant, place: last?.place ?? '' };
        }),
      );
      expect(await tenantLog.grown([])).toEqual([]);
      expect(await tenantLog.grown(places)).toEqual([]);
      const grown = tenants.filter((tenant) => !quiet.has(tenant));
      await append(log, ...grown.map((tenant) => commitOf(freshKey(tenant), 0)), commitOf(freshKey(freshTenant()), 0));
      const deadline = Date.now() + patienceMs;
      for (let named: readonly string[] = []; named.length < grown.length; await breath()) {
        if (Date.now() > deadline) throw new Error(`only ${named.length} tenants were named`);
        named = await tenantLog.grown(places);
        expect(named.filter((tenant) => quiet.has(tenantId(tenant)))).toEqual([]);
      }
      expect((await tenantLog.grown(places)).toSorted()).toEqual(grown.toSorted());
      for (const { tenant, place } of places)
        expect(
          await readOn(tenantLog, tenant, place, ({ length }) => length >= (quiet.has(tenant) ? 0 : 1)),
        ).toHaveLength(quiet.has(tenant) ? 0 : 1);
    });

    it.each(['', 'x y', '-1', '["a",1]', '0.0.0.0.0.0.0.0.0.0.0.0.0.0', '99999999999999999999'])(
      'G5: refuses %j, which is no place',
      async (place) => {
        const { tenantLog } = await open();
        await expect(tenantLog.after(tenantId('acme'), place, 5)).rejects.toMatchObject({ code: 'CURSOR_INVALID' });
      },
    );

    it('G1: passes over nothing when commits lose races, for a version and for an input', async () => {
      const { log, tenantLog } = await open();
      const tenant = freshTenant();
      const key = freshKey(tenant);
      await append(log, commitOf(key, 0, { inputs: ['known'] }));
      for (let version = 1; version < 4; version += 1) {
        const rivals = Array.from({ length: 12 }, () => commitOf(key, version));
        const known = commitOf(key, version, { inputs: ['known'] });
        await log.append([...rivals, known].map((commit) => ({ commit, owes: false })));
      }
      const found = await readOn(tenantLog, tenant, null, ({ length }) => length >= 4);
      expect(found.map(({ commit }) => commit.version)).toEqual([0, 1, 2, 3]);
    });

    it('G1, G2, G3: a reader that follows while many write sees each commit once, and in order', async () => {
      const under = await open();
      const tenant = freshTenant();
      const views = [under, ...(under.another ? [await under.another(), await under.another()] : [])];
      const keys = Array.from({ length: 12 }, () => freshKey(tenant));
      const begun = new Set<string>();
      const answered = new Set<string>();
      let writing = true;

      async function write(log: ThreadLog, nth: number): Promise<void> {
        for (let done = 0; done < 12;) {
          const key = keys[(nth * 5 + done) % keys.length] ?? freshKey(tenant);
          const head = await log.head(key); // another writer of the thread may be faster
          const mine = commitOf(key, head === null ? 0 : head.version + head.count, { count: 1 + (nth % 2) });
          begun.add(nameOf(mine));
          const [outcome] = await log.append([{ commit: mine, owes: false }]);
          if (outcome !== 'appended') continue;
          answered.add(nameOf(mine));
          done += 1;
        }
      }
      const writers = Array.from({ length: 24 }, (_, nth) => write((views[nth % views.length] ?? under).log, nth));
      const all = Promise.all(writers).finally(() => (writing = false));
      const isAll = (found: readonly PlacedCommit[]): boolean => !writing && found.length >= answered.size;
      const fromStart = views.map(({ tenantLog }) => readOn(tenantLog, tenant, null, isAll, 7));
      const fromThere = (async () => {
        while (answered.size < 40) await breath();
        const before = new Set(answered);
        const place = await under.tenantLog.end(tenant);
        const atEnd = new Set(begun); // stored before the end, answered after it
        await all;
        const missing = (found: readonly PlacedCommit[]): readonly string[] => {
          const seen = new Set(found.map(({ commit }) => nameOf(commit)));
          return [...answered].filter((one) => !atEnd.has(one) && !seen.has(one));
        };
        const found = await readOn(under.tenantLog, tenant, place, (seen) => missing(seen).length === 0, 7);
        expect(found.filter(({ commit }) => before.has(nameOf(commit)))).toEqual([]);
        return found;
      })();
      await all;
      for (const found of await Promise.all(fromStart)) {
        expect(found.map(({ commit }) => nameOf(commit)).toSorted()).toEqual([...answered].toSorted());
        inOrderOfThreads(found);
      }
      inOrderOfThreads(await fromThere);
    });

    it('G5: a place outlives the process', async (context) => {
      const under = await open();
      if (!under.reopen) return context.skip('this log does not outlive its process');
      const tenant = freshTenant();
      const key = freshKey(tenant);
      await append(under.log, commitOf(key, 0), commitOf(key, 1));
      const [first] = await readOn(under.tenantLog, tenant, null, ({ length }) => length >= 1, 1);
      opened = await under.reopen();
      await append(opened.log, commitOf(key, 2));
      const rest = await readOn(opened.tenantLog, tenant, first?.place ?? null, ({ length }) => length >= 2);
      expect(rest.map(({ commit }) => commit.version)).toEqual([1, 2]);
    });
  });
}
