// Grafana's JSON of a dashboard, by Grafana's own builders.
//
// Invariants:
//   J1. The same description gives the same JSON: ids of panels count, and nothing depends on a clock or a machine.
//   J2. The data source is a variable: a dashboard works with any Prometheus, and with several.
import * as common from '@grafana/grafana-foundation-sdk/common';
import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';
import * as prometheus from '@grafana/grafana-foundation-sdk/prometheus';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';
import type { DashboardDescription, PanelDescription } from './panel.ts';

/** (J2) */
const datasource = { type: 'prometheus', uid: '${datasource}' } as const;
const panelHeight = 8;
const panelWidth = 8; // three in a row of 24

export function grafanaJson({ name, title, description, rows }: DashboardDescription): string {
  const built = new dashboard.DashboardBuilder(title)
    .uid(`dormouse-${name}`)
    .description(description)
    .tags(['dormouse'])
    .tooltip(dashboard.DashboardCursorSync.Crosshair)
    .time({ from: 'now-1h', to: 'now' })
    .refresh('30s')
    .withVariable(new dashboard.DatasourceVariableBuilder('datasource').label('Prometheus').type('prometheus'))
    .link(
      new dashboard.DashboardLinkBuilder('Dormouse').type(dashboard.DashboardLinkType.Dashboards).tags(['dormouse']),
    );
  let id = 0;
  for (const row of rows) {
    built.withRow(new dashboard.RowBuilder(row.title).id(++id));
    for (const each of row.panels) built.withPanel(graph(each).id(++id)); // (J1)
  }
  return `${JSON.stringify(built.build(), null, 2)}\n`;
}

function graph({ title, description, unit, queries }: PanelDescription): timeseries.PanelBuilder {
  const built = new timeseries.PanelBuilder()
    .title(title)
    .description(description)
    .unit(unit)
    .min(0)
    .datasource(datasource)
    .height(panelHeight)
    .span(panelWidth)
    .legend(new common.VizLegendOptionsBuilder().displayMode(common.LegendDisplayMode.List).showLegend(true));
  for (const [place, { expr, legend }] of queries.entries())
    built.withTarget(
      new prometheus.DataqueryBuilder()
        .datasource(datasource)
        .expr(expr)
        .legendFormat(legend)
        .refId(String.fromCodePoint(65 + place)),
    );
  return built;
}
