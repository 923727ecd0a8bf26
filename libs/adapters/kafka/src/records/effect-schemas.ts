// Schemas of the effects that travel over a topic, by name: the values of `dispatches` and `notices`. As in
// `input-schemas.ts` they are the types of the heart.
import type { WorkTopics } from '@dormouse/ports';
import { z } from 'zod';
import { baseUrls, instant, json } from './content-schemas.ts';

const id = z.string().meta({ description: 'Paid twice with one id is paid once.' });
const text = z.string();

function effect<const Name extends string, Fields extends z.ZodRawShape>(
  name: Name,
  description: string,
  fields: Fields,
) {
  return z.object({ do: z.literal(name), id, ...fields }).meta({ description });
}

type EffectOf<Topic extends keyof WorkTopics> = WorkTopics[Topic]['effect'];
type Schemas<Topic extends keyof WorkTopics> = {
  readonly [Name in EffectOf<Topic>['do']]: z.ZodType<Extract<EffectOf<Topic>, { readonly do: Name }>>;
};

export const dispatchSchemas = {
  InvokeTool: effect('InvokeTool', 'Send a tool call to its server.', {
    toolCallId: text,
    toolServer: text,
    toolsetSha256: text,
    operation: text,
    arguments: json,
    providerCallId: text,
    userId: text.nullable(),
    ancestors: z.array(text).optional(),
    delivery: z.enum(['at_least_once', 'at_most_once']),
    callbackExpiresAt: instant.nullable(),
    baseUrls,
  }),
  WithdrawCall: effect('WithdrawCall', 'A call that has not begun must not begin.', { toolCallId: text }),
  LoadToolsets: effect('LoadToolsets', 'Fetch the manifests of tool servers.', {
    loadId: text,
    toolServers: z.array(text),
    afterChange: z.literal(true).optional(),
    baseUrls,
  }),
  MigrateToolServers: effect('MigrateToolServers', 'Ask tool servers to move the state of a family.', {
    migrationId: text,
    session: text,
    toolServers: z.record(text, text),
    baseUrls,
  }),
} satisfies Schemas<'dispatches'>;

export const noticeSchemas = {
  SendCancelNotices: effect('SendCancelNotices', 'Tell tool servers that a call was cancelled, once.', {
    toolCallId: text,
    toolServers: z.array(text),
    baseUrls,
  }),
  SendCloseNotices: effect('SendCloseNotices', 'Tell tool servers that the thread was closed, once.', {
    toolServers: z.array(text),
    baseUrls,
  }),
  AnswerChoice: effect('AnswerChoice', 'Send the answer of a person to the tool that asked.', {
    choiceId: text,
    toolCallId: text,
    toolServer: text,
    answerTo: text.meta({ description: 'The tool’s address, sealed.' }),
    selected: z.int(),
    baseUrls,
  }),
} satisfies Schemas<'notices'>;
