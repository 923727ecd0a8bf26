/**
 * Owns: the five messages a tool server may POST to a callback URL, their schemas, and their parser.
 * Not here: whether a message belongs to a call; the token and `decide` judge that.
 *
 * 1. Inbound is loose: unknown fields are ignored, `null` in an optional field means absent, defaults are filled in.
 * 2. An unknown `type` is refused; so is everything that is not a JSON object.
 * 3. `groupId` may be absent: servers forget it, and the token in the URL names the thread. The reader of the token
 *    compares the two.
 * 4. A runtime accepts only ids of its own making, which are bounded; a tool server repeats the ids of any runtime.
 * 5. A refusal names every defect of the message by its pointer on the wire, and the type if it could be read.
 */
import { checkingJson, isJsonObject, type JsonProblem, type Problem, rawMember, type Steps } from '@dormouse/json';
import { z } from 'zod';
import { choiceBytesMax, choicesMax, promptBytesMax, textBytesMax } from './limits.ts';
import { createCodec, type InCode } from './codec.ts';
import { contentField, displayField } from './content.ts';
import { foreignIdField, idField, isTooLarge, membersOf, opaqueObjectField, textField, urlField } from './field.ts';
import { describeIssue, problemsOf } from './problem.ts';

const codec = createCodec(['content', 'display_as']);

/** Ids that a runtime made and a tool server repeats: `group_id`, `id` and `tool_call_id`, and `call_id`. (4) */
interface EchoedIds {
  readonly id: z.ZodString;
  readonly callId: z.ZodString;
}

const toolResultSchema = ({ id, callId }: EchoedIds) =>
  z
    .object({
      type: z.literal('tool_result'),
      group_id: id.optional(),
      id,
      call_id: callId.optional(),
      text: textField(textBytesMax).optional(),
      content: contentField.optional(),
      display_as: displayField.optional(),
      subscription: z.boolean().default(false),
    })
    // RAP tool-result, Fields: at least one of text and content. R44
    .refine((result) => result.text !== undefined || result.content !== undefined, 'needs text or content');

const subscriptionEventSchema = ({ id }: EchoedIds) =>
  z.object({
    type: z.literal('subscription_event'),
    group_id: id.optional(),
    tool_call_id: id,
    text: textField(textBytesMax),
    associative: z.boolean().default(false),
    final: z.boolean().default(false),
    event_id: idField.optional(), // not in RAP: an extension of this runtime, see SPEC.md
  });

const oauthSchema = ({ id, callId }: EchoedIds) =>
  z.object({
    type: z.literal('oauth'),
    group_id: id.optional(),
    id,
    call_id: callId.optional(),
    auth_url: urlField,
  });

const userChoiceSchema = ({ id, callId }: EchoedIds) =>
  z
    .object({
      type: z.literal('user_choice'),
      group_id: id.optional(),
      id,
      call_id: callId.optional(),
      prompt: textField(promptBytesMax),
      choices: z.array(textField(choiceBytesMax)).min(1).max(choicesMax),
      default: z.int().min(0),
      response_url: urlField,
    })
    // RAP user-choice, Fields: the default is a valid index.
    .refine((choice) => choice.choices.length === 0 || choice.default < choice.choices.length, {
      path: ['default'],
      message: 'must be an index of choices',
    });

const viewUpdateSchema = ({ id }: EchoedIds) =>
  z.object({
    type: z.literal('view_update'),
    group_id: id.optional(),
    view_type: idField,
    content: opaqueObjectField, // RAP view-updates, Runtime Behavior: never interpreted. R98
  });

const schemasWith = (ids: EchoedIds) => ({
  tool_result: toolResultSchema(ids),
  subscription_event: subscriptionEventSchema(ids),
  oauth: oauthSchema(ids),
  user_choice: userChoiceSchema(ids),
  view_update: viewUpdateSchema(ids),
});

type Schemas = ReturnType<typeof schemasWith>;

/** (4) */
const inbound = schemasWith({ id: idField, callId: idField });
const outbound = schemasWith({ id: foreignIdField, callId: z.string() });

/** The wire form of each callback, as a runtime takes it. (1) */
export const callbackSchemas = inbound;

const fields = new Map(Object.entries(inbound).map(([type, { shape }]) => [type, Object.keys(shape)]));

/** `type` of a callback, as on the wire. */
type CallbackType = keyof Schemas;

type OfSchema<Schema extends z.ZodType> = InCode<z.infer<Schema>, 'content' | 'display_as'>;

/** The outcome of a call: `{id, callId?, text?, content?, displayAs?, subscription}`, with text or content or both. */
export type ToolResult = OfSchema<Schemas['tool_result']>;
/** Something happened that call `toolCallId` subscribed to: `{toolCallId, text, associative, final, eventId?}`. */
export type SubscriptionEvent = OfSchema<Schemas['subscription_event']>;
/** Call `id` waits until a person has visited `authUrl`, which is a secret and never stored in a log. */
type OAuthRequest = OfSchema<Schemas['oauth']>;
/** Call `id` waits for a person to pick one of `choices`; the index goes to `responseUrl`. `default` is an index. */
type UserChoice = OfSchema<Schemas['user_choice']>;
/** The state of view `viewType`, an opaque object. `{}` clears the view. */
export type ViewUpdate = OfSchema<Schemas['view_update']>;
/** Any callback. `groupId?` is common to all. */
export type Callback = ToolResult | SubscriptionEvent | OAuthRequest | UserChoice | ViewUpdate;

/** Why a callback was refused. `type` is there if it could be read and is known. */
interface CallbackRefusal {
  readonly ok: false;
  /** `BODY_TOO_LARGE`: a text is over its limit (413). `INVALID_BODY`: any other defect of a readable body (422). */
  readonly code: 'INVALID_BODY' | 'BODY_TOO_LARGE';
  readonly type?: CallbackType;
  readonly problems: readonly Problem[];
}

type CallbackParse = { readonly ok: true; readonly callback: Callback } | CallbackRefusal;

/** Result of `readingCallback`; `rawContent` is the text of a view's content, character for character. */
export type CallbackReading =
  | { readonly ok: true; readonly callback: Callback; readonly rawContent?: string }
  | CallbackRefusal
  | { readonly ok: false; readonly code: JsonProblem['code']; readonly problems: readonly Problem[] };

/** Parses one callback from a JSON value. Never throws. RAP transport, Security: validate every callback. R33 */
export const parseCallback = (json: unknown): CallbackParse => parse(inbound, json);

function parse(schemas: Schemas, json: unknown): CallbackParse {
  if (!isJsonObject(json)) return refuse('INVALID_BODY', [{ pointer: '', detail: 'must be an object' }]);
  const { type } = json;
  if (!isCallbackType(type)) {
    const detail = `must be one of ${Object.keys(inbound).join(', ')}`;
    return refuse('INVALID_BODY', [{ pointer: '/type', detail }]);
  }
  const schema: z.ZodType<z.infer<Schemas[CallbackType]>> = schemas[type];
  const parsed = schema.safeParse(membersOf(json, fields.get(type) ?? []), { error: describeIssue }); // (1)
  if (parsed.success) return { ok: true, callback: codec.toCode(parsed.data) };
  return refuse(isTooLarge(parsed.error) ? 'BODY_TOO_LARGE' : 'INVALID_BODY', problemsOf(parsed.error), type);
}

/** Reads one callback from the text of a request: `checkJson`, then `parseCallback`, the same verdict everywhere. */
export function* readingCallback(text: string): Steps<CallbackReading> {
  const reading = yield* checkingJson(text);
  if (!reading.ok) return { ok: false, code: reading.problem.code, problems: [reading.problem] };
  yield;
  const parsed = parseCallback(reading.value);
  if (!parsed.ok || parsed.callback.type !== 'view_update') return parsed;
  yield;
  const rawContent = yield* rawMember(text, 'content');
  return rawContent === undefined ? parsed : { ...parsed, rawContent };
}

/**
 * A callback as a tool server sends it; `groupId` is required there. Fields of undefined value are left out.
 * @throws RangeError if `parseCallback` would refuse the result for anything but the length of a runtime's id: a bug of
 *   the sender.
 */
export function encodeCallback(callback: Callback & { readonly groupId: string }): { [name: string]: unknown } {
  const wire = codec.toWire(callback);
  const check = parse(outbound, wire); // (4)
  if (!check.ok) throw new RangeError(check.problems.map(({ pointer, detail }) => `${pointer}: ${detail}`).join('; '));
  return wire;
}

function isCallbackType(type: unknown): type is CallbackType {
  return typeof type === 'string' && Object.hasOwn(inbound, type);
}

function refuse(code: CallbackRefusal['code'], problems: readonly Problem[], type?: CallbackType): CallbackRefusal {
  return { ok: false, code, problems, ...(type && { type }) };
}
