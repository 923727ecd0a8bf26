// What changed when a tool server answered 409: its manifest is fetched anew and compared with the one that the call
// was decided on, and the difference is described to the model. R107
import { canonicalJson } from '@dormouse/json';
import type { ToolServer } from '@dormouse/ports';
import { type Tool, type Toolset } from '@dormouse/protocol';
import type { Manifest, Manifests } from './manifest.ts';

const schemaCharactersMax = 4_000;

/** One paragraph for the model. Never throws because of a server's answer. */
export async function describeChange(
  manifests: Manifests,
  server: ToolServer,
  decidedOn: Manifest | null,
  operation: string,
): Promise<string> {
  const fetched = await manifests.fetchChanged(server);
  const head = `tool server "${server.name}" refused the call because its tools have changed`;
  if (!fetched.ok) return `${head}; its new manifest could not be read: ${fetched.rejection.problems.join('; ')}`;
  const now = fetched.manifest.toolset;
  const before = decidedOn?.toolset;
  const versions = `version ${quoted(before?.toolsetVersion)} is now ${quoted(now.toolsetVersion)}`;
  const changes = before === undefined ? [] : differences(before, now);
  const summary = changes.length === 0 ? 'the definitions of its tools are the same' : changes.join('; ');
  return `${head}: ${versions}; ${summary}.${howTo(now, operation)}`;
}

function differences(before: Toolset, now: Toolset): readonly string[] {
  const names = (tools: readonly Tool[]): ReadonlySet<string> => new Set(tools.map(({ name }) => name));
  const [had, has] = [names(before.tools), names(now.tools)];
  const added = now.tools.filter(({ name }) => !had.has(name)).map(({ name }) => name);
  const removed = before.tools.filter(({ name }) => !has.has(name)).map(({ name }) => name);
  const changed = now.tools.filter((tool) => isChanged(before, tool)).map(({ name }) => name);
  const say = (what: string, tools: readonly string[]): readonly string[] =>
    tools.length === 0 ? [] : [`${what}: ${tools.join(', ')}`];
  return [...say('added', added), ...say('removed', removed), ...say('changed', changed)];
}

function isChanged(before: Toolset, tool: Tool): boolean {
  const old = before.tools.find(({ name }) => name === tool.name);
  return old !== undefined && canonicalJson(old) !== canonicalJson(tool);
}

function howTo(now: Toolset, operation: string): string {
  const tool = now.tools.find(({ name }) => name === operation);
  if (tool === undefined) return ` There is no tool "${operation}" any more.`;
  const schema = JSON.stringify(tool.inputSchema);
  return schema.length > schemaCharactersMax
    ? ''
    : ` "${operation}" now takes arguments of this JSON Schema: ${schema}`;
}

const quoted = (version: string | undefined): string => (version === undefined ? 'none' : `"${version}"`);
