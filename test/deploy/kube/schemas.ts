// Schemas for kubeconform, made without a network from what Go modules publish: the OpenAPI document of Kubernetes, and
// the definitions of custom resources of KEDA, of the Prometheus operator and of the Gateway API.
//
// Invariants:
//   S1. A field that a schema does not name is refused, unless the definition keeps unknown ones.
//   S2. Each schema stands alone: what it refers to is inside.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { runCommand } from '../../services/run-command.ts';
import { builtFolder, type Found } from '../chart-programs.ts';

export const kubernetesVersion = 'v1.36.3';
/** Their folder of definitions, which the API server of kube/api-server.ts gets, too. */
const customResources = [
  { module: 'github.com/kedacore/keda/v2', version: 'v2.17.2', folder: 'config/crd/bases' },
  {
    module: 'github.com/prometheus-operator/prometheus-operator',
    version: 'v0.83.0',
    folder: 'example/prometheus-operator-crd',
  },
  { module: 'sigs.k8s.io/gateway-api', version: 'v1.3.0', folder: 'config/crd/standard' },
] as const;

/** A folder of `{kind}-{group}-{version}.json`, with the definitions in `crds`. */
export const kubernetesSchemas = (): Promise<Found> =>
  builtFolder(`kubernetes-schemas-${kubernetesVersion}`, async (into) => {
    const kubernetes = await downloaded('k8s.io/kubernetes', kubernetesVersion, into);
    const document = readFileSync(join(kubernetes, 'api/openapi-spec/swagger.json'), 'utf8');
    writeSchemas((JSON.parse(document) as { readonly definitions: Definitions }).definitions, into);
    mkdirSync(join(into, 'crds'));
    for (const { module, version, folder } of customResources) {
      const place = join(await downloaded(module, version, into), folder);
      for (const file of readdirSync(place).filter((name) => /\.ya?ml$/.test(name)))
        for (const document of parseAllDocuments(readFileSync(join(place, file), 'utf8'))) {
          const definition = document.toJS() as CustomResource | null;
          if (definition?.kind !== 'CustomResourceDefinition') continue;
          writeFileSync(join(into, 'crds', `${definition.metadata.name}.json`), JSON.stringify(definition));
          writeCustomSchemas(definition, into);
        }
    }
  });

/** The folder of a module as it was published. */
export async function downloaded(module: string, version: string, cwd: string): Promise<string> {
  writeFileSync(join(cwd, 'go.mod'), 'module fetch\n\ngo 1.23\n');
  const printed = await runCommand('go', ['mod', 'download', '-json', `${module}@${version}`], {
    withinMs: 900_000,
    cwd,
  });
  return (JSON.parse(printed) as { readonly Dir: string }).Dir;
}

type Schema = Readonly<Record<string, unknown>>;
type Definitions = Readonly<Record<string, Schema>>;

interface CustomResource {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

interface KindOf {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const pointer = '#/definitions/';
const quantity = 'io.k8s.apimachinery.pkg.api.resource.Quantity';
const numberOrText = 'io.k8s.apimachinery.pkg.util.intstr.IntOrString';
const nullable = new Set(['object', 'array', 'string', 'integer', 'number', 'boolean']);

function writeSchemas(published: Definitions, into: string): void {
  const strict: Record<string, Schema> = Object.fromEntries(
    Object.entries(published).map(([name, schema]) => [name, strictly(schema) as Schema]),
  );
  strict[quantity] = { type: ['string', 'number', 'null'] };
  strict[numberOrText] = { type: ['string', 'integer', 'null'] };
  for (const [name, schema] of Object.entries(published)) {
    const kinds = schema['x-kubernetes-group-version-kind'] as readonly KindOf[] | undefined;
    const [only, other] = kinds ?? [];
    if (only === undefined || other !== undefined) continue;
    const whole = strict[name] ?? {};
    const needed = [...referred(whole, strict, new Set())];
    const properties = whole['properties'] as Schema | undefined;
    writeSchema(into, only, {
      ...whole,
      type: 'object',
      required: [...new Set([...((whole['required'] as string[] | undefined) ?? []), 'apiVersion', 'kind'])],
      properties: {
        ...properties,
        kind: { type: 'string', enum: [only.kind] },
        apiVersion: { type: 'string', enum: [[only.group, only.version].filter((part) => part !== '').join('/')] },
      },
      definitions: Object.fromEntries(needed.map((each) => [each, strict[each]])), // (S2)
    });
  }
}

function writeCustomSchemas({ spec }: CustomResource, into: string): void {
  for (const { name: version, schema } of spec.versions) {
    const strict = strictly(schema.openAPIV3Schema) as Schema;
    const properties = { ...(strict['properties'] as Schema), metadata: { type: 'object' } };
    writeSchema(into, { group: spec.group, version, kind: spec.names.kind }, { ...strict, type: 'object', properties });
  }
}

function writeSchema(into: string, { kind, group, version }: KindOf, schema: Schema): void {
  const [first = ''] = group.split('.');
  const name = [kind.toLowerCase(), first, version].filter((part) => part !== '').join('-');
  writeFileSync(join(into, `${name}.json`), JSON.stringify(schema));
}

/** (S1) */
function strictly(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(strictly);
  if (typeof node !== 'object' || node === null) return node;
  const schema: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(node)) if (key !== 'description') schema[key] = strictly(value);
  if (schema['x-kubernetes-int-or-string'] === true || schema['format'] === 'int-or-string') {
    delete schema['format'];
    delete schema['anyOf'];
    schema['type'] = ['string', 'integer', 'null'];
  } else if (typeof schema['type'] === 'string' && nullable.has(schema['type']) && schema['enum'] === undefined)
    schema['type'] = [schema['type'], 'null'];
  const isClosed = schema['x-kubernetes-preserve-unknown-fields'] !== true;
  if (isClosed && isSchemaMap(schema['properties'])) schema['additionalProperties'] ??= false;
  return schema;
}

/** `properties` may also be the name of a field: then it is a schema, whose `type` is a text. */
const isSchemaMap = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.values(value).every((each) => typeof each === 'object');

function referred(node: unknown, definitions: Definitions, found: Set<string>): Set<string> {
  if (Array.isArray(node)) for (const each of node) referred(each, definitions, found);
  else if (typeof node === 'object' && node !== null)
    for (const [key, value] of Object.entries(node)) {
      if (key !== '$ref' || typeof value !== 'string') referred(value, definitions, found);
      else if (!found.has(value.slice(pointer.length))) {
        found.add(value.slice(pointer.length));
        referred(definitions[value.slice(pointer.length)], definitions, found);
      }
    }
  return found;
}
