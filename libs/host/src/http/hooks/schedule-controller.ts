import { apiCodec, type Ingress } from '@dormouse/runtime';
import { Controller, Inject } from '@nestjs/common';
import { pageOf } from '../../api/field.ts';
import { INGRESS } from '../control-plane/tokens.ts';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { noContent, type Reply, reply } from '../data-plane/reply.ts';
import { unwrap } from '../problems/problem.ts';

@Controller()
export class ScheduleController {
  constructor(@Inject(INGRESS) private readonly ingress: Ingress) {}

  @Operate('createSchedule')
  async create(@OperationCall() { tenant, body }: Call<'createSchedule'>): Promise<Reply> {
    const { schedule, created } = unwrap(await this.ingress.schedules.create(tenant, apiCodec.toCode(body)));
    return reply(created ? 201 : 200, shown(schedule));
  }

  @Operate('listTenantSchedules')
  async list(@OperationCall() { tenant, query }: Call<'listTenantSchedules'>): Promise<Reply> {
    const { data, nextCursor } = await this.ingress.schedules.list(tenant, pageOf(query));
    return reply(200, { data: data.map(shown), nextCursor });
  }

  @Operate('deleteSchedule')
  async remove(@OperationCall() { tenant, params }: Call<'deleteSchedule'>): Promise<Reply> {
    unwrap(await this.ingress.schedules.remove(tenant, params.name));
    return noContent;
  }
}

type Shown = Awaited<ReturnType<Ingress['schedules']['list']>>['data'][number];

/** The codec knows a time by its name: a last one has another. */
const shown = ({ lastScheduledFor, ...schedule }: Shown): object => ({
  ...schedule,
  lastScheduledFor: lastScheduledFor === null ? null : new Date(lastScheduledFor).toISOString(),
});
