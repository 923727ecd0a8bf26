// How many attempts run at once: of the process, of a tenant, of an endpoint.
//
// Invariants:
//   P1. An endpoint whose last attempt failed has one place, any other `ofEndpointMax`.
//   P2. The failing endpoints of a tenant share half of its places: those that work always have the other half.
//   P3. A tenant has a part of the process's places, however much waits for it.
import type { TenantId } from '@dormouse/ports';

/** An attempt takes up to 15 seconds, and holds a socket meanwhile. */
export const defaultPlaceLimits = { inAllMax: 1_024, ofTenantMax: 64, ofEndpointMax: 4 };

export interface Places {
  /** How many attempts of the endpoint may begin now. */
  free(tenant: TenantId, endpoint: string, isFailing: boolean): number;
  /** Returns the function that gives the place back, once. */
  take(tenant: TenantId, endpoint: string, isFailing: boolean): () => void;
}

export function createPlaces({ inAllMax, ofTenantMax, ofEndpointMax }: Readonly<typeof defaultPlaceLimits>): Places {
  let inAll = 0;
  const ofTenant = new Map<string, number>();
  const failingOf = new Map<string, number>();
  const ofEndpoint = new Map<string, number>();
  const countIn = (map: Map<string, number>, key: string): number => map.get(key) ?? 0;
  function add(map: Map<string, number>, key: string, count: number): void {
    const sum = countIn(map, key) + count;
    if (sum === 0) map.delete(key);
    else map.set(key, sum);
  }
  const nameOf = (tenant: TenantId, endpoint: string): string => `${tenant} ${endpoint}`;
  return {
    free(tenant, endpoint, isFailing) {
      const most = isFailing ? 1 : ofEndpointMax; // (P1)
      const rooms = [
        inAllMax - inAll,
        ofTenantMax - countIn(ofTenant, tenant), // (P3)
        most - countIn(ofEndpoint, nameOf(tenant, endpoint)),
        ...(isFailing ? [Math.ceil(ofTenantMax / 2) - countIn(failingOf, tenant)] : []), // (P2)
      ];
      return Math.max(0, Math.min(...rooms));
    },
    take(tenant, endpoint, isFailing) {
      const count = (by: number): void => {
        inAll += by;
        add(ofTenant, tenant, by);
        add(ofEndpoint, nameOf(tenant, endpoint), by);
        if (isFailing) add(failingOf, tenant, by);
      };
      count(1);
      let isTaken = true;
      return () => {
        if (isTaken) count(-1);
        isTaken = false;
      };
    },
  };
}
