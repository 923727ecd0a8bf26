// The script of a scripted model, as an agent's parameters carry it; owns its shape and the texts of its problems.
import { z } from 'zod';

const waitMsMax = 86_400_000;

const step = z.union([
  z.strictObject({ text: z.string() }),
  z.strictObject({ reasoning: z.string() }),
  z.strictObject({
    tool_call: z.strictObject({ name: z.string().min(1), arguments: z.unknown().default({}) }),
  }),
  z.strictObject({ wait_ms: z.number().int().min(0).max(waitMsMax) }),
  z.strictObject({ fail: z.strictObject({ status: z.number().int().min(100).max(599) }) }),
]);

const script = z.array(z.array(step));

export type ScriptStep = z.infer<typeof step>;
export type Script = z.infer<typeof script>;

export interface SettingProblem {
  /** JSON Pointer below the value that was judged. */
  readonly pointer: string;
  readonly detail: string;
}

export type ParsedScript =
  { readonly ok: true; readonly script: Script } | { readonly ok: false; readonly problems: readonly SettingProblem[] };

const stepForms =
  'a step is one of {"text"}, {"reasoning"}, {"tool_call": {"name","arguments"}}, {"wait_ms"}, {"fail": {"status"}}';

/** A missing script is an empty one: such a model repeats the last message. */
export function parseScript(value: unknown): ParsedScript {
  const parsed = script.safeParse(value ?? []);
  if (parsed.success) return { ok: true, script: parsed.data };
  return {
    ok: false,
    problems: parsed.error.issues.map((issue) => ({
      pointer: issue.path.map((key) => `/${String(key)}`).join(''),
      detail: issue.code === 'invalid_union' ? stepForms : issue.message,
    })),
  };
}
