// docs/reference/metrics.md, made from the table of the metrics, and written by:
// `node --conditions=dormouse-source test/docs/write-metrics.ts`
//
// G1  The page is what `metricsPage` returns for the table as it is; no part of it is written by hand.
import { describedMetric, type MetricDescription, metricNames, metricServices, prometheusName } from '@dormouse/ports';

export const metricsPagePath = 'docs/reference/metrics.md';

const places: readonly (readonly string[])[] = [
  [
    'a service of a cluster',
    'the operations port, `DORMOUSE_HEALTH_PORT` (7429), from the first moment, without a key',
  ],
  ['standalone', 'the API port, with a key of scope `tenant:admin`'],
  ['standalone with `DORMOUSE_HEALTH_PORT`', 'that port, without a key'],
];

const introduction = `# Metrics

Every process exports its metrics as Prometheus text at \`/metrics\`, and pushes them over OTLP where OpenTelemetry's own
variables ask for it.

@places
- A push begins with \`OTEL_EXPORTER_OTLP_ENDPOINT\`, \`OTEL_EXPORTER_OTLP_METRICS_ENDPOINT\` or \`OTEL_METRICS_EXPORTER=otlp\`.
  Protocol, headers, interval (\`OTEL_METRIC_EXPORT_INTERVAL\`) and names (\`OTEL_SERVICE_NAME\`) are OpenTelemetry's
  variables, too.
- A name contains its unit. The Collector makes the same Prometheus names of what is pushed as \`/metrics\` has; names of
  OpenTelemetry's conventions are pushed with dots and without their unit, as the last table shows.
- A metric is there from the start, at 0. An open label, whose values come from the installation, starts with \`other\`.
  A gauge has no series before its state exists: without a tool server there is no breaker.
- A label has at most 100 values in a process; any further one counts as \`other\`. No label names a thread, a call, a user
  or a tenant.
- \`DORMOUSE_METRICS=false\` exports none. \`DORMOUSE_METRICS_OLD_GENAI=false\` leaves out \`gen_ai_client_token_usage\`.

This page is made by \`node --conditions=dormouse-source test/docs/write-metrics.ts\`.
`;

export function metricsPage(): string {
  return [
    introduction.replace('@places', tableOf(['where', '`/metrics`'], places)),
    '## All metrics\n',
    tableOf(
      ['name', 'kind', 'labels', 'exported by', 'meaning'],
      metricNames.map((name) => {
        const description = describedMetric(name);
        const { kind, help } = description;
        return [code(prometheusName(name)), kind, labelsOf(description), servicesOf(description), help];
      }),
    ),
    '## Values of labels\n',
    tableOf(['metric', 'label', 'values'], valueRows()),
    '## Buckets\n',
    'Upper bounds, in the unit of the name.\n',
    tableOf(['metric', 'bounds'], bucketRows()),
    '## Names of OpenTelemetry\n',
    tableOf(['Prometheus', 'OTLP', 'unit'], conventionRows()),
  ].join('\n');
}

const code = (text: string): string => `\`${text}\``;
const plain = (label: string): string => label.replaceAll('.', '_');

function labelsOf({ labels }: MetricDescription): string {
  const names = Object.keys(labels);
  return names.length === 0 ? '–' : names.map((name) => code(plain(name))).join(', ');
}

function servicesOf({ services }: MetricDescription): string {
  return services.length === metricServices.length ? 'all' : services.join(', ');
}

const valueRows = (): readonly string[][] =>
  metricNames.flatMap((name) =>
    Object.entries(describedMetric(name).labels).flatMap(([label, values]) =>
      typeof values === 'string' ? [] : [[code(prometheusName(name)), code(plain(label)), values.map(code).join(', ')]],
    ),
  );

const bucketRows = (): readonly string[][] =>
  metricNames.flatMap((name) => {
    const description = describedMetric(name);
    return description.kind === 'histogram' ? [[code(prometheusName(name)), description.buckets.join(', ')]] : [];
  });

const conventionRows = (): readonly string[][] =>
  metricNames.flatMap((name) => {
    const { unit } = describedMetric(name);
    return unit === undefined ? [] : [[code(prometheusName(name)), code(name), code(unit)]];
  });

/** Padded, as the formatter writes tables. */
function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, place) => Math.max(title.length, ...rows.map((row) => row[place]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, place) => cell.padEnd(widths[place] ?? 0)).join(' | ')} |`;
  return `${[line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')}\n`;
}
