// How the runtime's values are shown to clients: one mechanical translation, no table of exceptions.
//
// Invariants:
//   J1. Names go from camelCase to snake_case by their spelling alone; what is opaque (arguments, metadata, parameters,
//       settings by the name of a tool or tool server) is handed on untouched.
//   J2. Members that hold a time (`…At`, `at`, `since`, `due`, `deadline`, `scheduledFor`) are milliseconds inside
//       and RFC 3339 UTC with milliseconds outside.
//   J3. An event's `type` is the snake_case of its name: `MessageAccepted` is `message_accepted`.
import { createCodec, wireName } from '@dormouse/protocol';

const opaqueNames = ['arguments', 'metadata', 'parameters', 'tools', 'tool_timeout_ms', 'input_schema'] as const;
const opaqueInCode = new Set([
  ...['arguments', 'argumentsAllowed', 'metadata', 'parameters', 'tools', 'toolTimeoutMs', 'inputSchema'],
  ...['toolServers', 'baseUrls'],
]);
const timeNames = new Set(['at', 'since', 'due', 'deadline', 'scheduledFor']);

/** Request bodies: wire names to ours. */
export const apiCodec = createCodec(opaqueNames);

/** Any value of ours as the API's JSON value. (J1, J2) */
export function apiJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(apiJson);
  if (typeof value !== 'object' || value === null) return value;
  const members: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const member = (value as Readonly<Record<string, unknown>>)[name];
    if (member === undefined) continue;
    members[wireNameOf(name)] = opaqueInCode.has(name)
      ? member
      : isTime(name, member)
        ? rfc3339(member)
        : apiJson(member);
  }
  return members;
}

/** The API's name of an event or request type. (J3) */
export const apiType = (name: string): string => wireNameOf(name.charAt(0).toLowerCase() + name.slice(1));

export const rfc3339 = (milliseconds: number): string => new Date(milliseconds).toISOString();

function isTime(name: string, member: unknown): member is number {
  return typeof member === 'number' && (timeNames.has(name) || name.endsWith('At'));
}

/** Names are few; translating one is a regular expression, remembering it is a lookup. */
const remembered = new Map<string, string>();
const rememberedMax = 2_000;

function wireNameOf(name: string): string {
  const known = remembered.get(name);
  if (known !== undefined) return known;
  const wire = wireName(name);
  if (remembered.size < rememberedMax) remembered.set(name, wire);
  return wire;
}
