import { modelSettingProblems } from '@dormouse/adapter-model';
import type { Problem } from '@dormouse/json';
import type { Agent, ModelConfig } from '@dormouse/ports';
import { apiCodec, type Ingress } from '@dormouse/runtime';
import { Controller, Headers, Inject } from '@nestjs/common';
import { pageOf } from '../../api/field.ts';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { HttpProblem, unwrap } from '../problems/problem.ts';
import { etagOfAgent, ifMatch } from './precondition.ts';
import { noContent, type Reply, reply, tagged } from '../data-plane/reply.ts';
import { INGRESS } from './tokens.ts';

@Controller()
export class AgentController {
  constructor(@Inject(INGRESS) private readonly ingress: Ingress) {}

  @Operate('createAgent')
  async create(
    @OperationCall() { tenant, body }: Call<'createAgent'>,
    @Headers('if-match') match?: string,
  ): Promise<Reply> {
    const { name, ...content } = apiCodec.toCode(body);
    const more = { problems: modelProblems(content.model), holds: ifMatch(match, etagOfAgent) };
    const { agent, created } = unwrap(await this.ingress.agents.create(tenant, name, content, more));
    return this.answer(created ? 201 : 200, agent);
  }

  @Operate('listAgents')
  async list(@OperationCall() { tenant, query }: Call<'listAgents'>): Promise<Reply> {
    const page = await this.ingress.agents.list(tenant, pageOf(query));
    const paused = await this.ingress.agents.paused(tenant);
    return reply(200, { data: page.data.map((agent) => shown(agent, paused)), nextCursor: page.nextCursor });
  }

  @Operate('getAgent')
  async get(@OperationCall() { tenant, params }: Call<'getAgent'>): Promise<Reply> {
    return this.answer(200, unwrap(await this.ingress.agents.get(tenant, params.name)));
  }

  @Operate('getAgentVersion')
  async version(@OperationCall() { tenant, params }: Call<'getAgentVersion'>): Promise<Reply> {
    if (!/^[1-9]\d{0,8}$/.test(params.n)) throw new HttpProblem('NOT_FOUND', 'There is no such version.');
    return this.answer(200, unwrap(await this.ingress.agents.get(tenant, params.name, Number(params.n))));
  }

  @Operate('patchAgent')
  async patch(
    @OperationCall() { tenant, params, body }: Call<'patchAgent'>,
    @Headers('if-match') match?: string,
  ): Promise<Reply> {
    const isPaused = body.state === 'paused';
    const holds = ifMatch(match, etagOfAgent);
    return this.answer(200, unwrap(await this.ingress.agents.setPaused(tenant, params.name, isPaused, holds)));
  }

  @Operate('deleteAgent')
  async remove(
    @OperationCall() { tenant, params }: Call<'deleteAgent'>,
    @Headers('if-match') match?: string,
  ): Promise<Reply> {
    unwrap(await this.ingress.agents.remove(tenant, params.name, ifMatch(match, etagOfAgent)));
    return noContent;
  }

  private async answer(status: number, agent: Agent): Promise<Reply> {
    const paused = await this.ingress.agents.paused(agent.tenant);
    return tagged(reply(status, shown(agent, paused)), etagOfAgent(agent));
  }
}

/** What only the provider can validate: its script, its endpoint. */
const modelProblems = (model: ModelConfig): readonly Problem[] =>
  modelSettingProblems(model).map(({ pointer, detail }) => ({ pointer: `/model${pointer}`, detail }));

/** Every field except the internal ones. */
function shown({ tenant: _, contentSha256: __, ...agent }: Agent, paused: readonly string[]): object {
  return { ...agent, state: paused.includes(agent.name) ? 'paused' : 'active' };
}
