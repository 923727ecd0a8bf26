// The graph page of a Prometheus with the queries of panels, one graph below the other. Pure.
import type { PanelDescription } from './panel.ts';

const rateInterval = '1m';

/** The address of the page; Grafana's `$__rate_interval` becomes a minute. */
export function prometheusPage(base: string, panels: readonly PanelDescription[], minutes: number): string {
  const queries = panels.flatMap((each) => each.queries.map(({ expr }) => expr));
  const parts = queries.flatMap((expr, place): readonly [string, string][] => [
    [`g${place}.expr`, expr.replaceAll('$__rate_interval', rateInterval)],
    [`g${place}.range_input`, `${minutes}m`],
    [`g${place}.tab`, '0'],
  ]);
  return `${base}/graph?${new URLSearchParams(parts)}`;
}
