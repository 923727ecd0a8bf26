// The commits of a tenant in memory. Contract: ports/log/tenant-log.ts. A place is the number of commits before it.
import { invalidCursor, type PlacedCommit, type TenantLog } from '@dormouse/ports';
import type { Passage } from '../gate.ts';
import type { LogStore } from './thread-log.ts';

export function createTenantLog(store: LogStore, passage: Passage): TenantLog {
  return {
    after: (tenant, place, limit) =>
      passage.read('tenantLog.after', tenant, () => {
        const found: PlacedCommit[] = [];
        for (let next = numberOf(place); next < store.arrived.length && found.length < limit; next += 1) {
          const commit = store.arrived[next];
          if (commit?.tenant === tenant) found.push({ commit, place: String(next + 1) });
        }
        return found;
      }),
    grown: (places) =>
      passage.read('tenantLog.grown', String(places.length), () =>
        places
          .filter(({ tenant, place }) =>
            store.arrived.slice(numberOf(place)).some((commit) => commit.tenant === tenant),
          )
          .map(({ tenant }) => tenant),
      ),
    end: (tenant) => passage.read('tenantLog.end', tenant, () => String(store.arrived.length)),
  };
}

function numberOf(place: string | null): number {
  if (place === null) return 0;
  if (!/^\d{1,15}$/.test(place)) throw invalidCursor();
  return Number(place);
}
