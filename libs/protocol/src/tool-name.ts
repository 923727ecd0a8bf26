/**
 * Owns: the names of tools: their form, the runtime's own names, and the reserved one that no tool may have.
 * Not here: clashes between toolsets (R21); a manifest alone cannot show them.
 */
import { z } from 'zod';
import { nameCharactersMax } from './limits.ts';

/** A tool's name: 1 to 128 of `A-Z a-z 0-9 _ -`, case-sensitive. RAP toolsets, Tool Names. R22 */
export const toolNameField = z
  .string()
  .min(1)
  .max(nameCharactersMax)
  .regex(/^[A-Za-z0-9_-]*$/);

/** The tools that the runtime itself offers to a model. */
export const builtInToolNames: readonly string[] = [
  'cancel_subscription',
  'spawn_thread',
  'report_to_parent',
  'send_message_to_child',
  'close_thread',
  'set_title',
  'sleep',
  'sleep_until',
];

export const isBuiltInToolName = (name: string): boolean => builtInToolNames.includes(name);

/** The name under which a model may see an injected event; no real tool may have it. RAP subscription-events. R72 */
export const injectedEventToolName = 'receive_event__injected';
