/**
 * Owns: the bodies of the three requests that notify a tool server instead of asking for a result.
 * Not here: where they go (`tool-server-url.ts`), how often (close and cancel: once, R61 R66), what an answer means.
 *
 * 1. Outbound is strict and validated: a body that breaks its schema is a bug of the runtime and throws.
 * 2. Inbound, for tool servers, is loose: unknown fields are ignored. Ids are opaque, whatever their
 *    length, and stay untrusted; never use one as a path. T39
 */
import { z } from 'zod';
import { createCodec, type InCode } from './codec.ts';
import { foreignIdField, idField, urlField } from './field.ts';
import { describeIssue, type Refusal, refusalOf } from './problem.ts';

const codec = createCodec([]);

/** RAP thread-closure, Fields. R59 */
export const closeThreadSchema = z.strictObject({ thread_id: idField });
/** RAP tool-cancellation, Fields. R64 */
export const cancelToolCallSchema = z.strictObject({ thread_id: idField, tool_call_id: idField });
/** RAP migration, Request. R101 */
export const migrateSchema = z.strictObject({ session_id: idField, destination_url: urlField });

/** (2) */
const inbound = {
  closeThread: z.object({ thread_id: foreignIdField }),
  cancelToolCall: z.object({ thread_id: foreignIdField, tool_call_id: foreignIdField }),
  migrate: z.object({ session_id: foreignIdField, destination_url: urlField }),
};

/** Thread `threadId` will not call again. */
type CloseThread = InCode<z.infer<typeof closeThreadSchema>>;
/** Thread `threadId` no longer waits for call `toolCallId`. */
type CancelToolCall = InCode<z.infer<typeof cancelToolCallSchema>>;
/** Family `sessionId` (its root thread) moves; the server at `destinationUrl` takes over. */
export type Migrate = InCode<z.infer<typeof migrateSchema>>;

/** The JSON body for `{base}/close_thread`. @throws z.ZodError (1) */
export function encodeCloseThread(notice: CloseThread): z.infer<typeof closeThreadSchema> {
  return closeThreadSchema.parse(codec.toWire(notice));
}

/** The JSON body for `{base}/cancel_tool_call`. @throws z.ZodError (1) */
export function encodeCancelToolCall(notice: CancelToolCall): z.infer<typeof cancelToolCallSchema> {
  return cancelToolCallSchema.parse(codec.toWire(notice));
}

/** The JSON body for `{base}/migrate`. @throws z.ZodError (1) */
export function encodeMigrate(notice: Migrate): z.infer<typeof migrateSchema> {
  return migrateSchema.parse(codec.toWire(notice));
}

type NoticeParse<Notice> = { readonly ok: true; readonly notice: Notice } | Refusal;

/** Parses the body of `/close_thread` as a tool server receives it. */
export function parseCloseThread(json: unknown): NoticeParse<CloseThread> {
  return parse(inbound.closeThread, json);
}

/** Parses the body of `/cancel_tool_call` as a tool server receives it. */
export function parseCancelToolCall(json: unknown): NoticeParse<CancelToolCall> {
  return parse(inbound.cancelToolCall, json);
}

/** Parses the body of `/migrate` as a tool server receives it. */
export function parseMigrate(json: unknown): NoticeParse<Migrate> {
  return parse(inbound.migrate, json);
}

function parse<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  json: unknown,
): NoticeParse<InCode<z.infer<z.ZodObject<Shape>>>> {
  const parsed = schema.safeParse(json, { error: describeIssue });
  return parsed.success ? { ok: true, notice: codec.toCode(parsed.data) } : refusalOf(parsed.error);
}
