// What a tool is here: a definition that goes into the manifest, and a function that does the work.
//
// Invariants:
//   W1. Arguments are checked by the very schema that the manifest publishes. T9
//   W2. Work ends when its signal says so; nobody waits for it any more then.
import { z } from 'zod';
import { errorTextPrefix, type JsonObject, type ToolAnnotations } from '@dormouse/protocol';

export interface WorkContext {
  /** The thread that asked; a tool may keep state for it until it closes. */
  readonly groupId: string;
  readonly signal: AbortSignal;
}

export interface ExampleTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly annotations: ToolAnnotations;
  /** Does the work and answers with the text for the model; an error's text starts with `Error: `. */
  work(given: unknown, context: WorkContext): Promise<string>;
  /**
   * True when the call must not be taken now: it is answered with 503 and comes again. Only `flaky` ever says so.
   * `attempt` counts the POSTs of this call from 1.
   */
  refuses?(given: unknown, attempt: number): boolean;
  /** The thread is gone. T37 */
  forget?(groupId: string): void;
}

/** A tool from one zod schema: published as JSON Schema, used to check what arrives. (W1) */
export function defineTool<Schema extends z.ZodObject>(definition: {
  readonly name: string;
  readonly description: string;
  readonly input: Schema;
  readonly annotations?: ToolAnnotations;
  readonly work: (given: z.infer<Schema>, context: WorkContext) => string | Promise<string>;
  readonly refuses?: (given: z.infer<Schema>, attempt: number) => boolean;
  readonly forget?: (groupId: string) => void;
}): ExampleTool {
  const { name, description, input, annotations = {}, work, refuses, forget } = definition;
  return {
    name,
    description,
    inputSchema: z.toJSONSchema(input, { io: 'input' }),
    annotations,
    async work(given, context) {
      const parsed = input.safeParse(given);
      return parsed.success ? work(parsed.data, context) : invalid(parsed.error);
    },
    refuses(given, attempt) {
      const parsed = input.safeParse(given);
      return parsed.success && refuses !== undefined && refuses(parsed.data, attempt);
    },
    ...(forget === undefined ? {} : { forget }),
  };
}

export const failed = (sentence: string): string => `${errorTextPrefix}${sentence}`;

function invalid(error: z.ZodError): string {
  const problems = error.issues.map((issue) => `${issue.path.map(String).join('.') || 'arguments'}: ${issue.message}`);
  return failed(`these arguments do not fit the tool. ${problems.join('; ')}`);
}
