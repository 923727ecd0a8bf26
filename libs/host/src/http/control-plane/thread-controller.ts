import type { ThreadFilter, TenantId } from '@dormouse/ports';
import { apiCodec, type Ingress } from '@dormouse/runtime';
import { Controller, Inject } from '@nestjs/common';
import { pageOf } from '../../api/field.ts';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { itemsOf } from '../data-plane/message-route.ts';
import { mayUseAgent } from '../door/caller.ts';
import { unwrap } from '../problems/problem.ts';
import { type Reply, reply } from '../data-plane/reply.ts';
import { askThread } from './thread-request.ts';
import { INGRESS } from './tokens.ts';

@Controller()
export class ThreadController {
  constructor(@Inject(INGRESS) private readonly ingress: Ingress) {}

  @Operate('openThread')
  async open(@OperationCall() { tenant, caller, body, origin }: Call<'openThread'>): Promise<Reply> {
    await mayUseAgent(this.ingress, caller, body.agent);
    const { message, ...content } = body;
    const wanted = {
      ...apiCodec.toCode(content),
      userId: content.user_id ?? caller.userId ?? null,
      message: message === null ? null : itemsOf(message),
      reaches: caller.agents,
    };
    const { thread, created } = unwrap(await this.ingress.threads.open(tenant, wanted, origin));
    return reply(created ? 201 : 200, thread);
  }

  @Operate('listThreads')
  async list(@OperationCall() { tenant, caller, query }: Call<'listThreads'>): Promise<Reply> {
    const filter = { ...filterOf(query), ...(caller.agents && { agents: caller.agents }) };
    return reply(200, await this.ingress.threads.list(tenant, filter, pageOf(query)));
  }

  @Operate('getThread')
  async get(@OperationCall() { tenant, params, query }: Call<'getThread'>): Promise<Reply> {
    return reply(200, unwrap(await this.ingress.threads.get({ tenant, thread: params.id }, query.at)));
  }

  @Operate('patchThread')
  async patch(@OperationCall() { tenant, params, body }: Call<'patchThread'>): Promise<Reply> {
    return reply(200, unwrap(await this.ingress.threads.patch({ tenant, thread: params.id }, body)));
  }

  @Operate('listMessages')
  async messages(@OperationCall() { tenant, params, query }: Call<'listMessages'>): Promise<Reply> {
    const page = { ...pageOf(query), order: query.order };
    return reply(200, unwrap(await this.ingress.readable.list({ tenant, thread: params.id }, page)));
  }

  @Operate('forkThread')
  async fork(@OperationCall() { tenant, params, body, origin }: Call<'forkThread'>): Promise<Reply> {
    const wanted = { position: body.position, askAgain: body.then === 'ask_again' };
    return reply(201, unwrap(await this.ingress.threads.fork({ tenant, thread: params.id }, wanted, origin)));
  }

  @Operate('batchThreads')
  async batch(@OperationCall() { tenant, caller, body, origin }: Call<'batchThreads'>): Promise<Reply> {
    const wanted = apiCodec.toCode(body);
    const agent = await this.agentName(tenant, wanted.filter.agent);
    const filter = { ...wanted.filter, ...(agent && { agent }), ...(caller.agents && { agents: caller.agents }) };
    return reply(202, await this.ingress.batch(tenant, { ...wanted, filter }, origin));
  }

  @Operate('interruptThread')
  interrupt(@OperationCall() call: Call<'interruptThread'>): Promise<Reply> {
    return askThread(this.ingress, call, { ask: 'interrupt', includeHuman: call.body.include_human });
  }

  @Operate('retryThread')
  retry(@OperationCall() call: Call<'retryThread'>): Promise<Reply> {
    return askThread(this.ingress, call, { ask: 'retry' });
  }

  @Operate('closeThread')
  close(@OperationCall() call: Call<'closeThread'>): Promise<Reply> {
    return askThread(this.ingress, call, { ask: 'close' });
  }

  /** Rows have the name; one that no agent has finds nothing by itself. */
  private async agentName(tenant: TenantId, nameOrId: string | undefined): Promise<string | undefined> {
    if (nameOrId === undefined) return undefined;
    const found = await this.ingress.agents.get(tenant, nameOrId);
    return found.ok ? found.value.name : nameOrId;
  }
}

function filterOf(query: Call<'listThreads'>['query']): ThreadFilter {
  const labels = Object.entries(query).flatMap(([field, value]) => {
    const label = /^metadata\[([^\]]+)\]$/.exec(field)?.[1];
    return label === undefined || typeof value !== 'string' ? [] : [[label, value] as const];
  });
  const { user_id: userId, external_id: externalId, created_after: createdAfter, updated_after: updatedAfter } = query;
  const { status, agent, parent, order } = query;
  const filter = { status, agent, parent, userId, externalId, createdAfter, updatedAfter, order };
  return labels.length === 0 ? filter : { ...filter, metadata: Object.fromEntries(labels) };
}
