import type { ToolServer, TenantId } from '@dormouse/ports';
import { apiCodec, type Ingress, type ToolServerPatch } from '@dormouse/runtime';
import { Controller, Headers, Inject } from '@nestjs/common';
import { pageOf } from '../../api/field.ts';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { unwrap } from '../problems/problem.ts';
import { etagOfServer, ifMatch } from './precondition.ts';
import { noContent, type Reply, reply, replyAsIs, tagged } from '../data-plane/reply.ts';
import { INGRESS } from './tokens.ts';

@Controller()
export class ToolServerController {
  constructor(@Inject(INGRESS) private readonly ingress: Ingress) {}

  @Operate('createToolServer')
  async create(@OperationCall() { tenant, body }: Call<'createToolServer'>): Promise<Reply> {
    const { server, created, warnings } = unwrap(await this.ingress.toolServers.create(tenant, apiCodec.toCode(body)));
    return tagged(reply(created ? 201 : 200, { ...shown(server), warnings }), etagOfServer(server));
  }

  @Operate('listToolServers')
  async list(@OperationCall() { tenant, query }: Call<'listToolServers'>): Promise<Reply> {
    const page = await this.ingress.toolServers.list(tenant, pageOf(query));
    return reply(200, { data: page.data.map(shown), nextCursor: page.nextCursor });
  }

  @Operate('getToolServer')
  async get(@OperationCall() { tenant, params }: Call<'getToolServer'>): Promise<Reply> {
    const server = unwrap(await this.ingress.toolServers.get(tenant, params.name));
    const health = await this.ingress.toolServers.health(server);
    return tagged(reply(200, { ...shown(server), health }), etagOfServer(server));
  }

  @Operate('patchToolServer')
  patch(
    @OperationCall() { tenant, params, body }: Call<'patchToolServer'>,
    @Headers('if-match') match?: string,
  ): Promise<Reply> {
    const { state, ...patch } = apiCodec.toCode(body);
    return this.change(tenant, params.name, { ...patch, ...(state && { paused: state === 'paused' }) }, match);
  }

  @Operate('deleteToolServer')
  async remove(
    @OperationCall() { tenant, params }: Call<'deleteToolServer'>,
    @Headers('if-match') match?: string,
  ): Promise<Reply> {
    unwrap(await this.ingress.toolServers.remove(tenant, params.name, ifMatch(match, etagOfServer)));
    return noContent;
  }

  @Operate('probeToolServer')
  async probe(@OperationCall() { tenant, params, query }: Call<'probeToolServer'>): Promise<Reply> {
    const server = unwrap(await this.ingress.toolServers.get(tenant, params.name));
    const { latencyMs, ...report } = await this.ingress.probe(server, { credential: query.credential === 'check' });
    return replyAsIs(200, { ...report, latency_ms: latencyMs }); // the manifest is shown as its server wrote it
  }

  @Operate('tryTool')
  async try(@OperationCall() { tenant, params, body }: Call<'tryTool'>): Promise<Reply> {
    const server = unwrap(await this.ingress.toolServers.get(tenant, params.name));
    return reply(200, unwrap(await this.ingress.tryTool(server, body)));
  }

  @Operate('pauseToolServer')
  pause(
    @OperationCall() { tenant, params }: Call<'pauseToolServer'>,
    @Headers('if-match') match?: string,
  ): Promise<Reply> {
    return this.change(tenant, params.name, { paused: true }, match);
  }

  @Operate('resumeToolServer')
  resume(
    @OperationCall() { tenant, params }: Call<'resumeToolServer'>,
    @Headers('if-match') match?: string,
  ): Promise<Reply> {
    return this.change(tenant, params.name, { paused: false }, match);
  }

  private async change(tenant: TenantId, name: string, patch: ToolServerPatch, match?: string): Promise<Reply> {
    const holds = ifMatch(match, etagOfServer);
    return changedReply(unwrap(await this.ingress.toolServers.patch(tenant, name, patch, holds)));
  }
}

const changedReply = (server: ToolServer): Reply => tagged(reply(200, shown(server)), etagOfServer(server));

function shown({ tenant: _, resumedAt: __, ...server }: ToolServer): object {
  return { propagateTrace: 'same', ...server, state: server.paused ? 'paused' : 'active' };
}
