import { apiCodec, type Ingress, type WebhookContent, type WebhookPatch } from '@dormouse/runtime';
import { Controller, Inject } from '@nestjs/common';
import { pageOf } from '../../../api/field.ts';
import { type Call, Operate, OperationCall } from '../../data-plane/call.ts';
import { noContent, type Reply, reply } from '../../data-plane/reply.ts';
import { unwrap } from '../../problems/problem.ts';
import { INGRESS } from '../tokens.ts';

@Controller()
export class WebhookController {
  constructor(@Inject(INGRESS) private readonly ingress: Ingress) {}

  @Operate('createWebhook')
  async create(@OperationCall() { tenant, body }: Call<'createWebhook'>): Promise<Reply> {
    return reply(201, unwrap(await this.ingress.webhooks.create(tenant, contentOf<WebhookContent>(body))));
  }

  @Operate('listWebhooks')
  async list(@OperationCall() { tenant, query }: Call<'listWebhooks'>): Promise<Reply> {
    return reply(200, await this.ingress.webhooks.list(tenant, pageOf(query)));
  }

  @Operate('getWebhook')
  async get(@OperationCall() { tenant, params }: Call<'getWebhook'>): Promise<Reply> {
    return reply(200, unwrap(await this.ingress.webhooks.get(tenant, params.id)));
  }

  @Operate('patchWebhook')
  async patch(@OperationCall() { tenant, params, body }: Call<'patchWebhook'>): Promise<Reply> {
    const patch = contentOf<WebhookPatch>(body);
    return reply(200, unwrap(await this.ingress.webhooks.change(tenant, params.id, patch)));
  }

  @Operate('deleteWebhook')
  async remove(@OperationCall() { tenant, params }: Call<'deleteWebhook'>): Promise<Reply> {
    unwrap(await this.ingress.webhooks.remove(tenant, params.id));
    return noContent;
  }

  @Operate('rotateWebhook')
  async rotate(@OperationCall() { tenant, params }: Call<'rotateWebhook'>): Promise<Reply> {
    return reply(200, unwrap(await this.ingress.webhooks.rotate(tenant, params.id)));
  }

  @Operate('testWebhook')
  async test(@OperationCall() { tenant, params }: Call<'testWebhook'>): Promise<Reply> {
    return reply(202, unwrap(await this.ingress.webhooks.test(tenant, params.id)));
  }

  @Operate('listDeliveries')
  async deliveries(@OperationCall() { tenant, params, query }: Call<'listDeliveries'>): Promise<Reply> {
    return reply(200, unwrap(await this.ingress.webhooks.deliveries(tenant, params.id, pageOf(query))));
  }

  @Operate('redeliver')
  async redeliver(@OperationCall() { tenant, params }: Call<'redeliver'>): Promise<Reply> {
    return reply(202, unwrap(await this.ingress.webhooks.redeliver(tenant, params.id, params.delivery)));
  }

  @Operate('recoverWebhook')
  async recover(@OperationCall() { tenant, params, body }: Call<'recoverWebhook'>): Promise<Reply> {
    return reply(202, unwrap(await this.ingress.webhooks.recover(tenant, params.id, Date.parse(body.since))));
  }
}

/** The body was checked against its schema. */
const contentOf = <Content>(body: object): Content => apiCodec.toCode(body) as Content;
