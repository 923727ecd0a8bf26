import type { ToolServer } from '@dormouse/ports';
import { apiCodec, type Ingress, type ToolServerPatch } from '@dormouse/runtime';
import { Controller, Inject } from '@nestjs/common';
import { pageOf } from '../../api/field.ts';
import { toolServerOperations } from '../../api/tool-servers.ts';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { unwrap } from '../problems/problem.ts';
import { noContent, type Reply, reply, replyAsIs } from '../data-plane/reply.ts';
import { INGRESS } from './tokens.ts';

type Operations = typeof toolServerOperations;

@Controller()
export class ToolServerController {
  private readonly ingress: Ingress;

  constructor(@Inject(INGRESS) ingress: Ingress) {
    this.ingress = ingress;
  }

  @Operate(toolServerOperations.create)
  async create(@OperationCall() { tenant, body }: Call<Operations['create']>): Promise<Reply> {
    const { server, created } = unwrap(await this.ingress.toolServers.create(tenant, apiCodec.toCode(body)));
    return reply(created ? 201 : 200, shown(server));
  }

  @Operate(toolServerOperations.list)
  async list(@OperationCall() { tenant, query }: Call<Operations['list']>): Promise<Reply> {
    const page = await this.ingress.toolServers.list(tenant, pageOf(query));
    return reply(200, { data: page.data.map(shown), nextCursor: page.nextCursor });
  }

  @Operate(toolServerOperations.get)
  async get(@OperationCall() { tenant, params }: Call<Operations['get']>): Promise<Reply> {
    const server = unwrap(await this.ingress.toolServers.get(tenant, params.name));
    return reply(200, { ...shown(server), health: await this.ingress.toolServers.health(server) });
  }

  @Operate(toolServerOperations.patch)
  patch(@OperationCall() { tenant, params, body }: Call<Operations['patch']>): Promise<Reply> {
    return this.change(tenant, params.name, apiCodec.toCode(body));
  }

  @Operate(toolServerOperations.remove)
  async remove(@OperationCall() { tenant, params }: Call<Operations['remove']>): Promise<Reply> {
    unwrap(await this.ingress.toolServers.remove(tenant, params.name));
    return noContent;
  }

  @Operate(toolServerOperations.probe)
  async probe(@OperationCall() { tenant, params }: Call<Operations['probe']>): Promise<Reply> {
    const { latencyMs, ...report } = await this.ingress.probe(
      unwrap(await this.ingress.toolServers.get(tenant, params.name)),
    );
    return replyAsIs(200, { ...report, latency_ms: latencyMs }); // the manifest is shown as its server wrote it
  }

  @Operate(toolServerOperations.pause)
  pause(@OperationCall() { tenant, params }: Call<Operations['pause']>): Promise<Reply> {
    return this.change(tenant, params.name, { paused: true });
  }

  @Operate(toolServerOperations.resume)
  resume(@OperationCall() { tenant, params }: Call<Operations['resume']>): Promise<Reply> {
    return this.change(tenant, params.name, { paused: false });
  }

  private async change(tenant: string, server: string, patch: ToolServerPatch): Promise<Reply> {
    return reply(200, shown(unwrap(await this.ingress.toolServers.patch(tenant, server, patch))));
  }
}

function shown({ tenant: _, ...server }: ToolServer): object {
  return { propagateTrace: 'same', ...server };
}
