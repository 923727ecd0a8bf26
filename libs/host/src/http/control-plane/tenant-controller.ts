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
  constructor(@Inject(INGRESS) private readonly ingress: Ingress) {}

  @Operate(tenantOperations.createTenant)
  async create(@OperationCall() { body: { id, ...given } }: Call<Operations['createTenant']>): Promise<Reply> {
    return reply(201, unwrap(await this.ingress.tenants.create(tenantId(id), changesOf(given))));
  }

  @Operate(tenantOperations.listTenants)
  async list(@OperationCall() { query }: Call<Operations['listTenants']>): Promise<Reply> {
    return reply(200, await this.ingress.tenants.list(pageOf(query)));
  }

  @Operate(tenantOperations.getTenant)
  async get(@OperationCall() { params }: Call<Operations['getTenant']>): Promise<Reply> {
    return reply(200, unwrap(await this.ingress.tenants.get(idOf(params))));
  }

  @Operate(tenantOperations.patchTenant)
  async patch(@OperationCall() { params, body }: Call<Operations['patchTenant']>): Promise<Reply> {
    return reply(200, unwrap(await this.ingress.tenants.change(idOf(params), changesOf(body))));
  }

  @Operate(tenantOperations.deleteTenant)
  async remove(@OperationCall() { params }: Call<Operations['deleteTenant']>): Promise<Reply> {
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
