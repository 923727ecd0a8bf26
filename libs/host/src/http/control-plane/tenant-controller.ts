import { parseTenantId, tenantId, type TenantId } from '@dormouse/ports';
import { apiCodec, type Ingress, type TenantChanges } from '@dormouse/runtime';
import { Controller, Inject } from '@nestjs/common';
import { pageOf } from '../../api/field.ts';
import { tenantOperations } from '../../api/tenants.ts';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { type Reply, reply } from '../data-plane/reply.ts';
import { HttpProblem, unwrap } from '../problems/problem.ts';
import { INGRESS } from './tokens.ts';

type Operations = typeof tenantOperations;

@Controller()
export class TenantController {
  private readonly ingress: Ingress;

  constructor(@Inject(INGRESS) ingress: Ingress) {
    this.ingress = ingress;
  }

  @Operate(tenantOperations.create)
  async create(@OperationCall() { body: { id, ...given } }: Call<Operations['create']>): Promise<Reply> {
    return reply(201, unwrap(await this.ingress.tenants.create(tenantId(id), changesOf(given))));
  }

  @Operate(tenantOperations.list)
  async list(@OperationCall() { query }: Call<Operations['list']>): Promise<Reply> {
    return reply(200, await this.ingress.tenants.list(pageOf(query)));
  }

  @Operate(tenantOperations.get)
  async get(@OperationCall() { params }: Call<Operations['get']>): Promise<Reply> {
    return reply(200, unwrap(await this.ingress.tenants.get(idOf(params))));
  }

  @Operate(tenantOperations.patch)
  async patch(@OperationCall() { params, body }: Call<Operations['patch']>): Promise<Reply> {
    return reply(200, unwrap(await this.ingress.tenants.change(idOf(params), changesOf(body))));
  }

  @Operate(tenantOperations.remove)
  async remove(@OperationCall() { params }: Call<Operations['remove']>): Promise<Reply> {
    return reply(202, unwrap(await this.ingress.tenants.remove(idOf(params))));
  }
}

/** @throws HttpProblem NOT_FOUND for a text that is no tenant's id */
function idOf({ id }: { readonly id: string }): TenantId {
  const parsed = parseTenantId(id);
  if (parsed === null) throw new HttpProblem('NOT_FOUND', 'There is no such tenant.');
  return parsed;
}

/** The body was checked against its schema. */
const changesOf = (body: object): TenantChanges => apiCodec.toCode(body) as TenantChanges;
