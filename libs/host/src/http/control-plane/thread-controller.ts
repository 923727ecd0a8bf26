import type { ThreadFilter, TenantId } from '@dormouse/ports';
import type { Ingress } from '@dormouse/runtime';
import { Controller, Inject } from '@nestjs/common';
import { pageOf } from '../../api/field.ts';
import { messageOperations } from '../../api/messages.ts';
import { threadOperations } from '../../api/threads.ts';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { itemsOf } from '../data-plane/message-route.ts';
import { mayUseAgent } from '../door/caller.ts';
import { unwrap } from '../problems/problem.ts';
import { type Reply, reply } from '../data-plane/reply.ts';
import { INGRESS } from './tokens.ts';

type Operations = typeof threadOperations;

@Controller()
export class ThreadController {
  private readonly ingress: Ingress;

  constructor(@Inject(INGRESS) ingress: Ingress) {
    this.ingress = ingress;
  }

  @Operate(threadOperations.openThread)
  async open(@OperationCall() { tenant, caller, body, origin }: Call<Operations['openThread']>): Promise<Reply> {
    await mayUseAgent(this.ingress, caller, body.agent);
    const wanted = {
      agent: body.agent,
      agentVersion: body.agent_version,
      userId: body.user_id ?? caller.userId ?? null,
      title: body.title,
      externalId: body.external_id,
      ifExists: body.if_exists,
      metadata: body.metadata,
      message: body.message === null ? null : itemsOf(body.message),
      reaches: caller.agents,
    };
    const { thread, created } = unwrap(await this.ingress.threads.open(tenant, wanted, origin));
    return reply(created ? 201 : 200, thread);
  }

  @Operate(threadOperations.listThreads)
  async list(@OperationCall() { tenant, caller, query }: Call<Operations['listThreads']>): Promise<Reply> {
    const filter = { ...filterOf(query), ...(caller.agents && { agents: caller.agents }) };
    return reply(200, await this.ingress.threads.list(tenant, filter, pageOf(query)));
  }

  @Operate(threadOperations.getThread)
  async get(@OperationCall() { tenant, params, query }: Call<Operations['getThread']>): Promise<Reply> {
    return reply(200, unwrap(await this.ingress.threads.get({ tenant, thread: params.id }, query.at)));
  }

  @Operate(threadOperations.patchThread)
  async patch(@OperationCall() { tenant, params, body }: Call<Operations['patchThread']>): Promise<Reply> {
    return reply(200, unwrap(await this.ingress.threads.patch({ tenant, thread: params.id }, body)));
  }

  @Operate(messageOperations.listMessages)
  async messages(
    @OperationCall() { tenant, params, query }: Call<typeof messageOperations.listMessages>,
  ): Promise<Reply> {
    const page = { ...pageOf(query), order: query.order };
    return reply(200, unwrap(await this.ingress.readable.list({ tenant, thread: params.id }, page)));
  }

  @Operate(threadOperations.forkThread)
  async fork(@OperationCall() { tenant, params, body, origin }: Call<Operations['forkThread']>): Promise<Reply> {
    const wanted = { position: body.position, askAgain: body.then === 'ask_again' };
    return reply(201, unwrap(await this.ingress.threads.fork({ tenant, thread: params.id }, wanted, origin)));
  }

  @Operate(threadOperations.batchThreads)
  async batch(@OperationCall() { tenant, caller, body, origin }: Call<Operations['batchThreads']>): Promise<Reply> {
    const { action, dry_run: dryRun, cursor } = body;
    const { user_id: userId, external_id: externalId, created_after: createdAfter, ...rest } = body.filter;
    const { updated_after: updatedAfter, ...named } = rest;
    const asked = { ...named, userId, externalId, createdAfter, updatedAfter };
    const agent = await this.agentName(tenant, asked.agent);
    const filter = { ...asked, ...(agent && { agent }), ...(caller.agents && { agents: caller.agents }) };
    return reply(202, await this.ingress.batch(tenant, { action, filter, dryRun, cursor }, origin));
  }

  @Operate(threadOperations.interruptThread)
  async interrupt(
    @OperationCall() { tenant, params, body, origin }: Call<Operations['interruptThread']>,
  ): Promise<Reply> {
    const request = { ask: 'interrupt', includeHuman: body.include_human } as const;
    return reply(202, unwrap(await this.ingress.requests.post({ tenant, thread: params.id }, request, origin)));
  }

  @Operate(threadOperations.retryThread)
  async retry(@OperationCall() { tenant, params, origin }: Call<Operations['retryThread']>): Promise<Reply> {
    return reply(
      202,
      unwrap(await this.ingress.requests.post({ tenant, thread: params.id }, { ask: 'retry' }, origin)),
    );
  }

  @Operate(threadOperations.closeThread)
  async close(@OperationCall() { tenant, params, origin }: Call<Operations['closeThread']>): Promise<Reply> {
    return reply(
      202,
      unwrap(await this.ingress.requests.post({ tenant, thread: params.id }, { ask: 'close' }, origin)),
    );
  }

  /** Rows have the name; one that no agent has finds nothing by itself. */
  private async agentName(tenant: TenantId, nameOrId: string | undefined): Promise<string | undefined> {
    if (nameOrId === undefined) return undefined;
    const found = await this.ingress.agents.get(tenant, nameOrId);
    return found.ok ? found.value.name : nameOrId;
  }
}

function filterOf(query: Call<Operations['listThreads']>['query']): ThreadFilter {
  const labels = Object.entries(query).flatMap(([field, value]) => {
    const label = /^metadata\[([^\]]+)\]$/.exec(field)?.[1];
    return label === undefined || typeof value !== 'string' ? [] : [[label, value] as const];
  });
  const { status, agent, parent, user_id: userId, external_id: externalId, created_after: createdAfter } = query;
  const { updated_after: updatedAfter, order } = query;
  return {
    status,
    agent,
    parent,
    userId,
    externalId,
    createdAfter,
    updatedAfter,
    order,
    ...(labels.length === 0 ? {} : { metadata: Object.fromEntries(labels) }),
  };
}
