// Where endpoints that call themselves OpenAI-compatible differ. `parameters.compatibility` describes one endpoint, so
// that each of them works by configuration alone; every other parameter is sent to the endpoint unchanged.
import { z } from 'zod';
import type { SettingProblem } from '../scripted/script.ts';

const compatibility = z.strictObject({
  /** Whether the endpoint streams. An answer in one piece is always read; some endpoints must also be asked for it. */
  stream: z.boolean().default(true),
  /** Ask for token counts at the end of the stream; a few servers refuse the unknown field. */
  stream_usage: z.boolean().default(true),
  /** Send earlier reasoning back as `reasoning_content`; a few models need it between tool calls, most refuse it. */
  reasoning_history: z.boolean().default(false),
  /** Call ids of nine letters and digits, as Mistral's templates demand. */
  short_call_ids: z.boolean().default(false),
  /** Send the instructions as the first user message, for chat templates without a system role. */
  system_as_user: z.boolean().default(false),
  /** Begin the conversation with a user message, for templates and providers that refuse another beginning. */
  user_first: z.boolean().default(false),
  /** Longest tool name that the endpoint accepts. */
  tool_name_characters_max: z.number().int().min(16).max(128).default(64),
});

export type Compatibility = z.infer<typeof compatibility>;

/** Of an endpoint that differs in nothing. */
export const standardCompatibility: Compatibility = compatibility.parse({});

export type ParsedCompatibility =
  | { readonly ok: true; readonly compatibility: Compatibility }
  | { readonly ok: false; readonly problems: readonly SettingProblem[] };

export function parseCompatibility(value: unknown): ParsedCompatibility {
  const parsed = compatibility.safeParse(value ?? {});
  if (parsed.success) return { ok: true, compatibility: parsed.data };
  return {
    ok: false,
    problems: parsed.error.issues.map((issue) => ({
      pointer: issue.path.map((key) => `/${String(key)}`).join(''),
      detail: issue.message,
    })),
  };
}
