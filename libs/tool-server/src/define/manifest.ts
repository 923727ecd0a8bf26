/**
 * Owns: the manifest, built from the tools, and every reason not to start with it.
 *
 * M1. What the protocol refuses is refused at start, with all defects at once. T46
 * M2. Custom annotations have a namespace: a name of one word belongs to the protocol. T46
 */
import { isBuiltInToolName, manifestBytesMax, parseToolset, utf8Bytes } from '@dormouse/protocol';
import type { Tool } from './tool.ts';

const standardAnnotations = new Set(['requiresAuth', 'readOnly', 'destructive', 'idempotent', 'longRunning']);
/** Names of MCP, and the names that RAP has for the same. */
const otherNames = new Map([
  ['destructiveHint', 'destructive'],
  ['readOnlyHint', 'readOnly'],
  ['idempotentHint', 'idempotent'],
]);
const namespaced = /^[A-Za-z][\w]*[-.:/][\w.:/-]+$/;

export interface ManifestSource {
  readonly name: string;
  readonly description?: string;
  readonly version?: string;
  readonly tools: readonly Tool[];
  readonly needsMigration: boolean;
}

export const manifestPath = '/.well-known/rap-toolset';

/** The manifest as JSON text. @throws Error that lists every defect. (M1) */
export function manifestText(source: ManifestSource, endpoint: string): string {
  const manifest = {
    name: source.name,
    description: source.description,
    endpoint,
    toolset_version: source.version,
    needsMigration: source.needsMigration ? true : undefined,
    tools: source.tools.map(({ name, description, inputSchema, annotations, displayScript }) => ({
      name,
      description,
      inputSchema,
      annotations: Object.keys(annotations).length === 0 ? undefined : annotations,
      displayScript,
    })),
  };
  const text = JSON.stringify(manifest, null, 2);
  const parsed = parseToolset(JSON.parse(text));
  const defects = parsed.ok ? [] : parsed.problems.map(({ pointer, detail }) => `${pointer} ${detail}`);
  if (utf8Bytes(text) > manifestBytesMax) defects.push(`it has more than ${manifestBytesMax} bytes`);
  defects.push(...source.tools.flatMap(houseRules));
  if (defects.length > 0) throw new Error(`the manifest is not valid: ${defects.join('; ')}`);
  return text;
}

function houseRules({ name, description, annotations }: Tool): string[] {
  const own = Object.keys(annotations).filter((key) => !standardAnnotations.has(key) && !namespaced.test(key));
  return [
    ...own.map((key) => `tool ${name}: ${complaintAbout(key)}`), // (M2)
    ...(description.trim() === '' ? [`tool ${name}: it needs a description`] : []),
    ...(isBuiltInToolName(name) ? [`tool ${name}: runtimes have a tool of their own by this name`] : []),
  ];
}

function complaintAbout(annotation: string): string {
  const meant = otherNames.get(annotation) ?? [...standardAnnotations].find((each) => isAlmost(annotation, each));
  return meant === undefined
    ? `the annotation ${annotation} needs a namespace, such as x-acme-${annotation}`
    : `the annotation ${annotation} is unknown; did you mean \`${meant}\`?`;
}

/** The same letters: `read_only` is `readOnly`. */
const isAlmost = (one: string, other: string): boolean => lettersOf(one) === lettersOf(other);
const lettersOf = (name: string): string => name.replaceAll(/[^A-Za-z]/g, '').toLowerCase();
