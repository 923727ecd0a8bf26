import { parseTenantId, tenantId, type TenantId } from '@dormouse/ports';
import { apiCodec, type Ingress, type TenantChanges } from '@dormouse/runtime';
import { Controller, Inject } from '@nestjs/common';
import { pageOf } from '../../api/field.ts';
import { type Call, Operate, OperationCall } from '../data-plane/call.ts';
import { type Reply, reply } from '../data-plane/reply.ts';
import { HttpProblem, unwrap } from '../problems/problem.ts';
import { INGRESS } from './tokens.ts';

@Controller()
export class TenantController {
  constructor(@Inject(INGRESS) private readonly ingress: Ingress) {}

  @Operate('createTenant')
  async create(@OperationCall() { body: { id, ...given } }: Call<'createTenant'>): Promise<Reply> {
    return reply(201, unwrap(await this.ingress.tenants.create(tenantId(id), changesOf(given))));
  }

  @Operate('listTenants')
  async list(@OperationCall() { query }: Call<'listTenants'>): Promise<Reply> {
    return reply(200, await this.ingress.tenants.list(pageOf(query)));
  }

  @Operate('getTenant')
  async get(@OperationCall() { params }: Call<'getTenant'>): Promise<Reply> {
    return reply(200, unwrap(await this.ingress.tenants.get(idOf(params))));
  }

  @Operate('patchTenant')
  async patch(@OperationCall() { params, body }: Call<'patchTenant'>): Promise<Reply> {
    return reply(200, unwrap(await this.ingress.tenants.change(idOf(params), changesOf(body))));
  }

  @Operate('deleteTenant')
  async remove(@OperationCall() { params }: Call<'deleteTenant'>): Promise<Reply> {
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
