// Judges the arguments of a tool call as the model wrote them. A problem goes into the history and back to the model as
// the call's error; it never stops the thread.
import { checkJson, inexactNumber, isJsonObject } from '@dormouse/json';
import type { ToolDefinition } from '@dormouse/ports';
import { fitsBytes } from '@dormouse/protocol';
import { type RequestedCall, threadLimits } from '@dormouse/thread';
import type { RawCall } from './partial-answer.ts';

/** Says what is wrong with `args` under the tool's schema, or null. Must bound its own time and memory. */
export type ValidateArguments = (
  definition: ToolDefinition,
  args: Readonly<Record<string, unknown>>,
) => Promise<string | null>;

export async function judgeCall(
  call: RawCall,
  definition: ToolDefinition | undefined,
  validate: ValidateArguments | null,
): Promise<RequestedCall> {
  const read = readArguments(call.arguments);
  const about = { providerCallId: call.providerCallId, operation: call.operation };
  if (typeof read === 'string') return { ...about, arguments: {}, problem: read };
  const args = withoutCopiedKind(read, definition);
  const problem = definition === undefined || validate === null ? null : await validate(definition, args);
  return { ...about, arguments: args, problem };
}

/** A model copies the `kind` of an injected event into its own calls; a tool without that argument never sees it. */
function withoutCopiedKind(
  args: Readonly<Record<string, unknown>>,
  definition: ToolDefinition | undefined,
): Readonly<Record<string, unknown>> {
  const { kind, ...rest } = args;
  if (typeof kind !== 'string' || !kind.startsWith('interrupt:')) return args;
  const properties = definition?.inputSchema['properties'];
  return isJsonObject(properties) && Object.hasOwn(properties, 'kind') ? args : rest;
}

/** Characters of a number that the error to the model quotes. */
const numberCharactersMax = 100;
/** A number that a double cannot hold would reach the tool as another number, perhaps as another valid id. */
const inexact = 'cannot be passed on exactly; send it as a string if the tool takes one';

/** The arguments, or why they cannot be used. */
function readArguments(text: string): Readonly<Record<string, unknown>> | string {
  if (!fitsBytes(text, threadLimits.argumentsBytesMax))
    return `arguments are larger than ${threadLimits.argumentsBytesMax} bytes`;
  // Providers write nothing at all for a tool without parameters.
  if (text.trim() === '') return {};
  const reading = checkJson(text);
  if (!reading.ok) return `arguments: ${reading.problem.detail}`;
  if (!isJsonObject(reading.value)) return 'arguments are not a JSON object';
  const number = inexactNumber(text);
  return number === null ? reading.value : `arguments: the number ${number.slice(0, numberCharactersMax)} ${inexact}`;
}
