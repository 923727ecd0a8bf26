import type { Clock } from '@dormouse/ports';
import { type Ingress, nextTime } from '@dormouse/runtime';
import { Controller, Inject } from '@nestjs/common';
import { pageOf } from '../../api/field.ts';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { viewText } from '../stream/event-stream.ts';
import { HttpProblem, unwrap } from '../problems/problem.ts';
import { noContent, type Reply, reply, replyAsIs, replyBytes, replyText } from '../data-plane/reply.ts';
import { givenAnswer } from './given-answer.ts';
import { askThread } from './thread-request.ts';
import { CLOCK, INGRESS } from './tokens.ts';

@Controller()
export class ThreadDetailController {
  constructor(
    @Inject(INGRESS) private readonly ingress: Ingress,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Operate('listCommits')
  async commits(@OperationCall() { tenant, params, query }: Call<'listCommits'>): Promise<Reply> {
    const page = unwrap(await this.ingress.events.commits({ tenant, thread: params.id }, query.cursor, query.limit));
    return replyAsIs(200, { data: page.data, next_cursor: page.nextCursor }); // the hash covers these very fields
  }

  @Operate('listToolCalls')
  async toolCalls(@OperationCall() { tenant, params, query }: Call<'listToolCalls'>): Promise<Reply> {
    return reply(200, unwrap(await this.ingress.toolCalls.list({ tenant, thread: params.id }, pageOf(query))));
  }

  @Operate('listTurns')
  async lineage(@OperationCall() { tenant, params, query }: Call<'listTurns'>): Promise<Reply> {
    const { after, limit, turn = null } = query;
    return reply(200, unwrap(await this.ingress.turns.list({ tenant, thread: params.id }, { after, limit, turn })));
  }

  @Operate('cancelToolCall')
  cancelCall(@OperationCall() call: Call<'cancelToolCall'>): Promise<Reply> {
    return askThread(this.ingress, call, { ask: 'cancel_call', toolCallId: call.params.call });
  }

  @Operate('listChoices')
  async choices(@OperationCall() { tenant, params, query }: Call<'listChoices'>): Promise<Reply> {
    return reply(200, unwrap(await this.ingress.choices.list({ tenant, thread: params.id }, pageOf(query))));
  }

  @Operate('answerChoice')
  async answerChoice(
    @OperationCall() { tenant, params, body, origin, caller, bytes }: Call<'answerChoice'>,
  ): Promise<Reply> {
    const answer = givenAnswer(body, caller, bytes);
    return reply(
      202,
      unwrap(await this.ingress.choices.answer({ tenant, thread: params.id }, params.chc, answer, origin)),
    );
  }

  @Operate('listSubscriptions')
  async subscriptions(@OperationCall() { tenant, params, query }: Call<'listSubscriptions'>): Promise<Reply> {
    const key = { tenant, thread: params.id };
    return reply(200, unwrap(await this.ingress.parts.subscriptions(key, pageOf(query))));
  }

  @Operate('cancelSubscription')
  cancelSubscription(@OperationCall() call: Call<'cancelSubscription'>): Promise<Reply> {
    return askThread(this.ingress, call, { ask: 'cancel_subscription', toolCallId: call.params.call });
  }

  @Operate('listViews')
  async views(@OperationCall() { tenant, params, query }: Call<'listViews'>): Promise<Reply> {
    const views = unwrap(await this.ingress.parts.views({ tenant, thread: params.id }, pageOf(query)));
    const next = JSON.stringify(views.nextCursor);
    return replyText(200, `{"data":[${views.data.map(viewText).join(',')}],"next_cursor":${next}}`);
  }

  @Operate('listChildren')
  async children(@OperationCall() { tenant, params, query }: Call<'listChildren'>): Promise<Reply> {
    return reply(200, unwrap(await this.ingress.parts.children({ tenant, thread: params.id }, pageOf(query))));
  }

  @Operate('refreshToolsets')
  refreshToolsets(@OperationCall() call: Call<'refreshToolsets'>): Promise<Reply> {
    return askThread(this.ingress, call, { ask: 'refresh_toolsets' });
  }

  @Operate('importThread')
  async import(@OperationCall() { tenant, body }: Call<'importThread'>): Promise<Reply> {
    return reply(200, unwrap(await this.ingress.imports.take(tenant, body)));
  }

  @Operate('importBlob')
  async importBlob(@OperationCall() { tenant, body }: Call<'importBlob'>): Promise<Reply> {
    const { sha256, media_type: mediaType, data } = body;
    unwrap(await this.ingress.imports.takeBlob(tenant, { sha256, mediaType, bytes: Buffer.from(data, 'base64') }));
    return noContent;
  }

  @Operate('migrateThread')
  migrate(@OperationCall() call: Call<'migrateThread'>): Promise<Reply> {
    return askThread(this.ingress, call, { ask: 'migration', toolServers: call.body.tool_servers });
  }

  @Operate('listSchedules')
  async schedules(@OperationCall() { tenant, params, query }: Call<'listSchedules'>): Promise<Reply> {
    return reply(200, unwrap(await this.ingress.parts.schedules({ tenant, thread: params.id }, pageOf(query))));
  }

  @Operate('addSchedule')
  async addSchedule(@OperationCall() { tenant, params, body, origin }: Call<'addSchedule'>): Promise<Reply> {
    const { cron, time_zone: timeZone, message, missed } = body;
    const hasZone = isTimeZone(timeZone);
    const comes = nextTime(cron, hasZone ? timeZone : 'UTC', this.clock.now()) !== null;
    const errors = [
      ...(comes ? [] : [{ pointer: '/cron', detail: 'is not a cron line, or never comes' }]),
      ...(hasZone
        ? []
        : [{ pointer: '/time_zone', detail: 'is no time zone that is known here, such as Europe/Vienna' }]),
    ];
    if (errors.length > 0)
      throw new HttpProblem('INVALID_BODY', 'The schedule cannot be used; see errors.', { errors });
    const key = { tenant, thread: params.id };
    return reply(202, unwrap(await this.ingress.parts.schedule(key, { cron, timeZone, message, missed }, origin)));
  }

  @Operate('removeSchedule')
  removeSchedule(@OperationCall() call: Call<'removeSchedule'>): Promise<Reply> {
    return askThread(this.ingress, call, { ask: 'unschedule', scheduleId: call.params.schedule });
  }

  @Operate('getBlob')
  async blob(@OperationCall() { tenant, params }: Call<'getBlob'>): Promise<Reply> {
    if (!/^[0-9a-f]{64}$/.test(params.sha256)) throw new HttpProblem('NOT_FOUND', 'There is no such blob.');
    const { bytes, mediaType } = unwrap(await this.ingress.blob({ tenant, thread: params.id }, params.sha256));
    return replyBytes(bytes, mediaType);
  }
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
