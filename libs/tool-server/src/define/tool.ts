/**
 * Owns: what a tool is: the definition that goes into the manifest, and the handler that does the work.
 * Not here: when a handler runs and how its call ends (`calls.ts`).
 *
 * W1. Arguments are checked by the very schema that the manifest publishes. T9
 * W2. A definition says how long a call may take; after that the caller gets an error result. T11
 */
import type { JsonObject } from '@dormouse/json';
import { z } from 'zod';
import type { ToolAnnotations } from '@dormouse/protocol';
import type { Authorization, OAuthProvider } from '../ask/oauth-provider.ts';
import type { Subscription } from '../call/subscription.ts';
import type { ThreadMemory } from '../call/thread-store.ts';
import type { HandlerOutput } from './tool-output.ts';

const deadlineMsDefault = 600_000;
const longDeadlineMsDefault = 86_400_000;
const longRunningSeconds = 30;

/** A question for the user. */
export interface Question {
  readonly prompt: string;
  /** Labels that say honestly what each option does. At least one. */
  readonly choices: readonly string[];
  /** Index of the option that counts when the user does not answer. */
  readonly default: number;
  /** Default: two hours. */
  readonly timeoutMs?: number;
}

/** The option that the user picked. */
export interface Choice {
  readonly index: number;
  readonly label: string;
}

/** How a call becomes a subscription. */
export interface SubscribeOptions {
  /** The confirmation for the model; the id of the call is added, which cancels the subscription in any runtime. */
  readonly text?: string;
  /** Any JSON that the tool needs later to identify the subscription. Sealed on disk. */
  readonly data?: unknown;
  /** Ends it by itself, with a final event that says so. Default: the server's `subscriptionMsMax`. */
  readonly ttlMs?: number;
}

/** What a handler gets besides its arguments. */
export interface ToolContext {
  /** The call's id. */
  readonly id: string;
  /** The calling thread: `group_id` on the wire. Untrusted text: never a path. T39 */
  readonly threadId: string;
  /** The first of its ancestors, or the thread itself. */
  readonly rootThreadId: string;
  /** Only for a tool with `requiresUser`. T33 T47 */
  readonly userId?: string;
  /** Aborted when no caller waits any more: cancelled, closed, out of time, shut down. */
  readonly signal: AbortSignal;
  readonly memory: ThreadMemory;
  /** Confirms the call as a subscription; the handler may go on and emit. Its return value is then ignored. T28 */
  readonly subscribe: (options?: SubscribeOptions) => Promise<Subscription>;
  /** Asks the user of the thread. @throws ToolError when no valid answer comes. T43 */
  readonly choose: (question: Question) => Promise<Choice>;
  /** An access token of the tool's `oauth` provider, after a login if needed. @throws ToolError on denial. T41 */
  readonly authorize: (options?: { readonly scopes?: readonly string[] }) => Promise<Authorization>;
  /** Shows state beside the conversation; `{}` clears it. T44 */
  readonly view: (type: string, content: object) => Promise<void>;
  /** One line of the server's log, with this call's name before it. */
  readonly log: (line: string) => void;
}

export interface ToolDefinition<Schema extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly description: string;
  /** Published as JSON Schema, and checks what arrives. (W1) */
  readonly input: Schema;
  /** Names of your own need a namespace: `x-acme-cost`. */
  readonly annotations?: ToolAnnotations;
  /** Cosmetic, for clients that evaluate it. */
  readonly displayScript?: string;
  /** Part of the description; 30 s and more make the tool `longRunning`. T34 */
  readonly expectedSeconds?: number;
  /** (W2) Default: ten minutes, a day when `longRunning`. Waiting for a user does not count. */
  readonly deadlineMs?: number;
  /**
   * After a restart a call that was running gets an error (default), or runs again from its beginning;
   * `rerun_if_asking`: only when it waited for a user, so that what it does after the answer is done once. In a second
   * run `choose` returns the earlier answers in the order of the questions, and waits again where the first run waited.
   * T26 T43
   */
  readonly onRestart?: 'fail' | 'rerun' | 'rerun_if_asking';
  /** A cancelled call sends nothing more (default), or answers with what its handler still returns. T40 */
  readonly onCancel?: 'silent' | 'answer';
  /** Calls without `user_id` get an error; the server needs an authentication then. T33 */
  readonly requiresUser?: boolean;
  /** The provider of `authorize`. Annotated as `requiresAuth`. T42 */
  readonly oauth?: OAuthProvider;
  /** Called for each live subscription of this tool when the server starts: re-arm timers, reconnect. T26 */
  readonly resume?: (subscription: Subscription) => void | Promise<void>;
  /** The subscription is over, whatever ended it. */
  readonly ended?: (subscription: Subscription) => void | Promise<void>;
  /** The thread is closed, or had no sign of life for a long time: drop what you keep for it. T37 */
  readonly forget?: (threadId: string) => void | Promise<void>;
}

/** A tool, ready to be served; made by `defineTool`. */
export interface Tool extends Omit<ToolDefinition, 'input' | 'annotations' | 'deadlineMs'> {
  readonly inputSchema: JsonObject;
  readonly annotations: ToolAnnotations;
  readonly deadlineMs: number;
  readonly parse: (given: unknown) => Promise<ArgumentParse>;
}

/** Valid arguments, as work that is ready to begin; or why they are invalid. */
export type ArgumentParse =
  | { readonly ok: true; readonly work: (context: ToolContext) => HandlerOutput | Promise<HandlerOutput> }
  | { readonly ok: false; readonly complaint: string };

/** A tool from one zod schema and a function. @throws Error if the schema has no JSON Schema form. T46 */
export function defineTool<Schema extends z.ZodObject>(
  definition: ToolDefinition<Schema>,
  handler: (given: z.output<Schema>, context: ToolContext) => HandlerOutput | Promise<HandlerOutput>,
): Tool {
  const { input, annotations = {}, deadlineMs, ...rest } = definition;
  const isLong = annotations.longRunning ?? (rest.expectedSeconds ?? 0) >= longRunningSeconds;
  return {
    ...rest,
    description: describe(definition),
    inputSchema: jsonSchemaOf(definition.name, input),
    annotations: {
      ...(rest.oauth === undefined ? {} : { requiresAuth: rest.oauth.name }),
      ...(isLong ? { longRunning: true } : {}),
      ...annotations,
    },
    deadlineMs: deadlineMs ?? (isLong ? longDeadlineMsDefault : deadlineMsDefault),
    async parse(given) {
      const parsed = await input.safeParseAsync(given);
      if (!parsed.success) return { ok: false, complaint: complaintOf(parsed.error) };
      return { ok: true, work: (context) => handler(parsed.data, context) };
    },
  };
}

function describe({ description, expectedSeconds, oauth }: ToolDefinition): string {
  const time = expectedSeconds === undefined ? '' : ` Usually takes about ${expectedSeconds} s.`;
  const login = oauth === undefined ? '' : ` Needs a login at ${oauth.name}, which is asked for when it is missing.`;
  return `${description}${time}${login}`;
}

function jsonSchemaOf(name: string, input: z.ZodObject): JsonObject {
  refuseOtherZod(name, input);
  try {
    const schema = z.toJSONSchema(input, { io: 'input', target: 'draft-2020-12' });
    const isEmpty = Object.keys(input.shape).length === 0;
    return isEmpty ? { ...schema, additionalProperties: false } : { ...schema }; // T46
  } catch (error) {
    const why = error instanceof Error ? error.message : 'for an unknown reason';
    throw new Error(`tool ${name}: its input has no JSON Schema form: ${why}`, { cause: error });
  }
}

/** @throws TypeError for what is no object schema of zod 4: plain JavaScript has no compiler that says so. */
function refuseOtherZod(name: string, input: unknown): void {
  const isObject = typeof input === 'object' && input !== null;
  if (isObject && '_zod' in input && input instanceof z.ZodObject) return;
  if (isObject && '_zod' in input && 'shape' in input) return; // of another copy of zod 4
  const what =
    isObject && '_def' in input && !('_zod' in input)
      ? 'a schema of zod 3, and zod 4 is needed: npm install zod@4'
      : isObject && '_zod' in input
        ? 'a zod schema of something else than an object: put it into z.strictObject({ … })'
        : isObject && '~standard' in input
          ? 'a schema of another library, and zod 4 is needed: npm install zod@4'
          : 'no schema: write input: z.strictObject({ … }), with zod 4';
  throw new TypeError(`tool ${name}: its input is ${what}.`);
}

function complaintOf(error: z.ZodError): string {
  const problems = error.issues.map((issue) => `${issue.path.map(String).join('.') || 'arguments'}: ${issue.message}`);
  return `these arguments do not fit the tool. ${problems.join('; ')}`;
}
