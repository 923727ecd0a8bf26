// Activity of tool servers in memory. Contract: ports/stores/tool-activity.ts.
import type { ActivityRow, ToolActivity, TenantId } from '@dormouse/ports';
import type { Passage } from '../gate.ts';

export interface ActivityStore {
  readonly rows: Map<string, ActivityRow>;
  readonly discoveries: Map<string, number>;
}

export function createToolActivity({ rows, discoveries }: ActivityStore, passage: Passage): ToolActivity {
  const isOf =
    (tenant: TenantId, toolServerId: string) =>
    (row: ActivityRow): boolean =>
      row.tenant === tenant && row.toolServerId === toolServerId;
  return {
    put: (some, discovered) =>
      passage.write('toolActivity.put', some.map(({ toolServerId }) => toolServerId).join(','), () => {
        for (const row of some) rows.set(JSON.stringify([serverOf(row), row.reporter, row.from]), row);
        for (const one of discovered)
          discoveries.set(serverOf(one), Math.max(one.at, discoveries.get(serverOf(one)) ?? one.at)); // (tool-activity Y3)
      }),
    read: (tenant, toolServerId, from) =>
      passage.read('toolActivity.read', toolServerId, () => ({
        rows: [...rows.values()].filter(isOf(tenant, toolServerId)).filter((row) => row.from >= from),
        discoveredAt: discoveries.get(serverOf({ tenant, toolServerId })) ?? null,
      })),
    forget: (tenant, toolServerId) =>
      passage.write('toolActivity.forget', toolServerId, () => {
        for (const [key, row] of rows) if (isOf(tenant, toolServerId)(row)) rows.delete(key);
        discoveries.delete(serverOf({ tenant, toolServerId }));
      }),
  };
}

const serverOf = ({ tenant, toolServerId }: Pick<ActivityRow, 'tenant' | 'toolServerId'>): string =>
  JSON.stringify([tenant, toolServerId]);
