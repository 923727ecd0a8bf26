// The files of the chart that are made from others: its README, and the copies of rules and dashboards that Helm can
// read only inside the chart. Written by: node --conditions=dormouse-source test/deploy/write-chart.ts
//
// Invariants:
//   C1. Each file is what this returns for its sources; no part of it is written by hand.
//   C2. Every value of values.yaml and of the schema is a row of the README, with the description of the schema.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { readDocument, root } from '../docs/document.ts';

export const chartFolder = 'deploy/helm/dormouse';
const observability = 'deploy/observability';

export interface ValueSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, ValueSchema>>;
  readonly additionalProperties?: unknown;
  readonly enum?: readonly unknown[];
}

export const chartSchema = (): ValueSchema =>
  JSON.parse(readDocument(`${chartFolder}/values.schema.json`).text) as ValueSchema;

export const chartValues = (): unknown => parse(readDocument(`${chartFolder}/values.yaml`).text);

/** By path in the repository. (C1) */
export function chartFiles(): ReadonlyMap<string, string> {
  const dashboards = readdirSync(join(root, observability, 'dashboards')).filter((name) => name.endsWith('.json'));
  return new Map([
    [`${chartFolder}/files/rules.yml`, readDocument(`${observability}/rules/dormouse.yml`).text],
    ...dashboards.map(
      (name) =>
        [`${chartFolder}/files/dashboards/${name}`, readDocument(`${observability}/dashboards/${name}`).text] as const,
    ),
    [`${chartFolder}/README.md`, readme()],
  ]);
}

export interface ValueRow {
  readonly name: string;
  readonly schema: ValueSchema;
  readonly standard: unknown;
}

/** A map whose keys are not the chart's, such as labels, is one row. */
export function valueRows(schema: ValueSchema, values: unknown, under = ''): readonly ValueRow[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, inner]): readonly ValueRow[] => {
    const name = under === '' ? key : `${under}.${key}`;
    const standard = isMap(values) ? values[key] : undefined;
    const isOpen = inner.properties === undefined || key === 'resources';
    return isOpen ? [{ name, schema: inner, standard }] : valueRows(inner, standard, name);
  });
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function readme(): string {
  const rows = valueRows(chartSchema(), chartValues()).map(
    ({ name, schema, standard }) =>
      `| \`${name}\` | ${codeOf(standard)} | ${cell(schema.description ?? '')}${valuesOf(schema)} |`,
  );
  return `${introduction}\n| value | standard | meaning |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
}

const codeOf = (value: unknown): string =>
  value === undefined || value === '' ? '' : `\`${cell(JSON.stringify(value))}\``;

const cell = (text: string): string => text.replaceAll('|', '\\|');

const valuesOf = ({ enum: values }: ValueSchema): string =>
  values === undefined ? '' : ` One of ${values.map((value) => `\`${String(value)}\``).join(', ')}.`;

const introduction = `<!-- Made by test/deploy/write-chart.ts from values.yaml and values.schema.json. A test compares. -->

# The chart of Dormouse

Five services over a Kafka, a MongoDB and a Redis that you have; none of them is installed here.
[From nothing to a conversation](../../../docs/guides/kubernetes.md) is a guide, [UPGRADING](UPGRADING.md) is for later.

\`\`\`sh
helm install dormouse deploy/helm/dormouse --namespace agents -f values.yaml --wait --timeout 10m
helm test dormouse --namespace agents --logs
\`\`\`

The least that values.yaml says is in [ci/minimal-values.yaml](ci/minimal-values.yaml); for other cases there are
[production](ci/production-values.yaml), [KEDA](ci/keda-values.yaml), [Gateway API](ci/gateway-api-values.yaml),
[certificates and logins](ci/secured-values.yaml), [Argo CD](ci/argo-cd-values.yaml),
[a private network](ci/private-network-values.yaml) and [IPv6](ci/ipv6-values.yaml). All of them
are rendered in tests, judged by schemas and policies, and installed into a real API server.

- **Secrets** are yours: no value is a credential or the URL of a server, and the chart makes no Secret. They are mounted as files, so
  that any character may be in a password. A changed Secret needs a restart: \`kubectl -n agents rollout restart deployment -l app.kubernetes.io/instance=dormouse\`.
- **Names** are the release's: \`dormouse-thread-processor\`, and so on. The setup Job's name ends with a hash of its template.
- **What is wrong is refused** before anything is applied, all at once, each with the value and its repair; so is an
  upgrade that would leave data behind.
- **Probes**: liveness is of the process alone, readiness of the servers that this service cannot work without (\`/readyz\` says which is away).
- **Network policies** deny everything first. A policy knows no host names: a host of \`outboundAllow\` opens its port to
  every address, and the guard of the product judges the rest.
- **\`helm uninstall\`** leaves the ConfigMap \`{release}-data\`, and a failed setup Job for a day. Topics, databases and Secrets are yours.

## Values
`;
