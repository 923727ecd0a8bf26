/**
 * Owns: the manifest that a tool server publishes, and the list of all its defects.
 * Not here: what makes an `inputSchema` a JSON Schema (`json-schema.ts`), clashes with other toolsets (R21), fetching,
 * caching, hashing.
 *
 * 1. Valid as a whole or refused as a whole; a refusal lists every defect, `problemsMax` of a kind. RAP toolsets,
 *    Validation. R19
 * 2. Unknown fields and annotations are tolerated; a known one of the wrong type is a defect, never a default. R28
 * 3. Descriptions, annotations and scripts are untrusted data: bounded, passed on, never interpreted. R31
 * 4. A manifest that was accepted has a canonical JSON text, so it can be hashed and pinned. R30
 */
import { type Steps, isJsonObject, jsonDepthMax, pointerTo, resultOf } from '@dormouse/json';
import type { JsonObject, Problem } from '@dormouse/json';
import { z } from 'zod';
import { annotationsMax, fitsBytes, idCharactersMax, nameCharactersMax } from './limits.ts';
import { problemsMax, schemaBytesMax, schemaDepthMax, toolsMax } from './limits.ts';
import { membersOf, opaqueObjectField, urlField, withoutNulls } from './field.ts';
import { schemaDefects } from './json-schema.ts';
import { describeIssue, problemsOf, type Refusal } from './problem.ts';
import { injectedEventToolName, toolNameField } from './tool-name.ts';

const annotationsSchema = z.looseObject({
  requiresAuth: z.string().optional(),
  readOnly: z.boolean().optional(),
  destructive: z.boolean().optional(),
  idempotent: z.boolean().optional(),
  longRunning: z.boolean().optional(),
});

/** `"":1,` */
const shortestMemberBytes = 5;
/** RAP toolsets, Validation: `inputSchema` is a JSON Schema object; arguments are an object: it must allow one. R18 */
const inputSchemaField = z
  .custom<JsonObject>(isJsonObject, { error: 'must be a JSON Schema object', abort: true })
  .refine((schema) => Object.keys(schema).length * shortestMemberBytes <= schemaBytesMax, {
    message: `allows at most ${schemaBytesMax} bytes`, // reported before each of them is checked
    abort: true,
  })
  .refine(allowsObjects, { path: ['type'], message: 'must be "object": arguments are an object' })
  .refine((schema) => depthOf(schema, schemaDepthMax) <= schemaDepthMax, {
    message: `allows at most ${schemaDepthMax} levels of nesting`,
    abort: true,
  })
  .refine((schema) => fitsBytes(JSON.stringify(schema), schemaBytesMax), {
    message: `allows at most ${schemaBytesMax} bytes`,
    abort: true,
  })
  .superRefine((schema, context) => {
    for (const { path, detail } of schemaDefects(schema))
      context.addIssue({ code: 'custom', path: [...path], message: detail });
  });

const toolSchema = z.object({
  name: toolNameField.refine((name) => name !== injectedEventToolName, 'this name is reserved'), // R72
  description: z.string(),
  inputSchema: inputSchemaField,
  annotations: z
    .custom<JsonObject>(isJsonObject, 'must be an object')
    .refine((annotations) => Object.keys(annotations).length <= annotationsMax, {
      message: `allows at most ${annotationsMax} entries`,
      abort: true,
    })
    .transform(withoutNulls)
    .pipe(annotationsSchema)
    .optional(),
  displayScript: z.string().optional(),
});

const versionField = z.string().max(idCharactersMax).optional().catch(undefined);

const toolsetSchema = z.object({
  name: z.string().min(1).max(nameCharactersMax),
  description: z.string().optional(),
  endpoint: urlField,
  tools: z.array(z.unknown()).min(1).max(toolsMax),
  needsMigration: z.boolean().default(false),
  toolset_version: versionField,
  version: versionField,
});

/** The manifest as a whole; the parser reads it tool by tool. */
export const manifestSchema = toolsetSchema.extend({
  tools: z
    .array(toolSchema.extend({ inputSchema: opaqueObjectField, annotations: annotationsSchema.optional() }))
    .min(1)
    .max(toolsMax),
});

const toolFields = Object.keys(toolSchema.shape);
const toolsetFields = Object.keys(toolsetSchema.shape);

/** What a tool server declares: `requiresAuth` (text), `readOnly`, `destructive`, `idempotent`, `longRunning`. */
export type ToolAnnotations = z.infer<typeof annotationsSchema>;
/** One tool: `{name, description, inputSchema, annotations?, displayScript?}`. The schema is passed on by identity. */
export type Tool = z.infer<typeof toolSchema>;

/** A manifest. `toolsetVersion` is its `toolset_version`, else its `version`, if that is a non-empty string. */
export interface Toolset {
  readonly name: string;
  readonly description?: string;
  /** Invocations go here. R3 */
  readonly endpoint: string;
  readonly tools: readonly Tool[];
  readonly needsMigration: boolean;
  /** Echoed in invocations, so that a server can answer 409. R107 */
  readonly toolsetVersion?: string;
}

type ToolsetParse = { readonly ok: true; readonly toolset: Toolset } | Refusal;

/** Parses a manifest from a JSON value. Never throws. RAP toolsets, Validation. R18 R19 R22 */
export const parseToolset = (json: unknown): ToolsetParse => resultOf(parsingToolset(json));

/** The same, tool by tool. */
export function* parsingToolset(json: unknown): Steps<ToolsetParse> {
  if (!isJsonObject(json)) return { ok: false, problems: [{ pointer: '', detail: 'must be an object' }] };
  const huge = yield* findingHugeNumbers(json);
  if (huge === 'too deep')
    return { ok: false, problems: [{ pointer: '', detail: `allows at most ${jsonDepthMax} levels of nesting` }] };
  const head = toolsetSchema.safeParse(membersOf(json, toolsetFields), { error: describeIssue });
  const problems = head.success ? [] : problemsOf(head.error);
  const tools = yield* readingTools(json, problems);
  problems.push(...huge);
  if (!head.success || problems.length > 0) return { ok: false, problems };
  const { toolset_version: own, version, ...rest } = head.data;
  const toolsetVersion = own || version;
  return { ok: true, toolset: { ...rest, tools, ...(toolsetVersion && { toolsetVersion }) } };
}

/** The tools that can be read; appends the defects of the others, and repeated names, to `problems`. */
function* readingTools(json: JsonObject, problems: Problem[]): Steps<Tool[]> {
  if (!Array.isArray(json.tools) || json.tools.length > toolsMax) return []; // reported already
  const tools: Tool[] = [];
  const names = new Map<unknown, number>();
  for (const [index, entry] of json.tools.entries()) {
    yield;
    const path = ['tools', index];
    const members = isJsonObject(entry) ? membersOf(entry, toolFields) : entry;
    const parsed = toolSchema.safeParse(members, { error: describeIssue });
    if (parsed.success) tools.push(parsed.data);
    else problems.push(...problemsOf(parsed.error, path));
    const name = isJsonObject(entry) && typeof entry.name === 'string' ? entry.name : undefined;
    const first = names.get(name);
    if (name === undefined) continue;
    if (first === undefined) names.set(name, index);
    else problems.push({ pointer: pointerTo([...path, 'name']), detail: `the same name as /tools/${first}` }); // R22
  }
  return tools;
}

function allowsObjects(schema: JsonObject): boolean {
  const { type } = schema;
  return type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'));
}

/** Nesting of `value`, counted no further than `limit + 1`: a scalar has 0, `{}` has 1. */
function depthOf(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (limit <= 0) return 1;
  let deepest = 0;
  for (const member of Object.values(value)) {
    if (typeof member === 'object') deepest = Math.max(deepest, depthOf(member, limit - 1));
  }
  return deepest + 1;
}

/** Numbers beyond every double (`1e999`) have no canonical text. (4) In steps of some thousand values. */
function* findingHugeNumbers(json: JsonObject): Steps<readonly Problem[] | 'too deep'> {
  const found: Problem[] = [];
  const path: string[] = [];
  let looked = 0;
  function* look(value: object): Steps<boolean> {
    if (path.length >= jsonDepthMax) return false;
    for (const key of Object.keys(value)) {
      const member: unknown = value[key as keyof typeof value];
      if (++looked % 4_096 === 0) yield;
      path.push(key);
      if (typeof member === 'object' && member !== null && !(yield* look(member))) return false;
      if (typeof member === 'number' && !Number.isFinite(member))
        found.push({ pointer: pointerTo(path), detail: 'a number beyond the range of a double' });
      if (found.length === problemsMax) return true;
      path.pop();
    }
    return true;
  }
  return (yield* look(json)) ? found : 'too deep';
}
