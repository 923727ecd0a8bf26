// A panel and a dashboard as this package describes them; `grafana.ts` turns them into Grafana's JSON.
//
// Invariants:
//   N1. Every panel says in a sentence what its reader learns from it.
//   N2. A panel whose queries have no data in a healthy cluster says in `needs` what has to happen first.

export interface Query {
  readonly expr: string;
  /** Grafana's legend: `{{label}}` is the value of a label. */
  readonly legend: string;
}

export interface PanelDescription {
  readonly title: string;
  /** (N1) */
  readonly description: string;
  /** A unit of Grafana: `s`, `ops`, `bytes`, `short`, `percentunit`. */
  readonly unit: string;
  readonly queries: readonly Query[];
  /** (N2) */
  readonly needs?: string;
}

export interface RowDescription {
  readonly title: string;
  readonly panels: readonly PanelDescription[];
}

export interface DashboardDescription {
  /** Of the file and of Grafana's address; it stays the same for ever. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly rows: readonly RowDescription[];
}

export const panel = (
  title: string,
  unit: string,
  description: string,
  queries: readonly (readonly [expr: string, legend: string])[],
  needs?: string,
): PanelDescription => ({
  title,
  unit,
  description,
  queries: queries.map(([expr, legend]) => ({ expr, legend })),
  ...(needs === undefined ? {} : { needs }),
});
