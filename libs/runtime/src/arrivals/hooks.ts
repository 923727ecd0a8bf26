// The door for signed deliveries: finds the source by the token of the URL, judges signature and body, and delivers.
//
// Invariants:
//   K1. A source is found by the hash of its token, in one read, whatever is wrong: an unknown token and a token of
//       another source's URL are answered alike, in the same time.
//   K2. The signature is judged before the body is read as JSON, and over its bytes.
//   K3. The answer comes after the message is durable. (delivery D1)
//   K4. A suspended tenant's deliveries are taken like any other; what they lead to is held. (tenants/holding.ts) Those
//       of a tenant that is being deleted find no source.
//   K5. Neither token nor secret is in a log line or an answer.
import { hash, timingSafeEqual } from 'node:crypto';
import type { IngressParts } from '../ingress-gateway/ingress-ports.ts';
import { inTurns } from '../in-turns.ts';
import { checkingJson, isJsonObject, type JsonObject } from '@dormouse/json';
import { Fault, type Logger, type Source } from '@dormouse/ports';
import { nameOfText } from '../ingress-gateway/access/client-id.ts';
import { answered, type Answered, invalid, notFound, refused } from '../ingress-gateway/refusal.ts';
import type { TenantRecords } from '../tenants/tenant-records.ts';
import type { Arrived, Deliver } from './delivery.ts';
import { type DeliveryHeaders, headerOf, isSigned, type SignedDelivery, textOf } from './signature.ts';
import { keyOf, rendered } from './template.ts';

/** `challenge`: Slack asks whether the address is ours. */
export type HookAnswer = Arrived | { readonly challenge: string };

export interface HookApi {
  /** 404 for anything but the URL of a source. (K1) @throws Fault */
  find(source: string, token: string): Promise<Answered<Source>>;
  /** @throws Fault */
  receive(source: Source, delivery: SignedDelivery): Promise<Answered<HookAnswer>>;
}

export interface HookPorts extends Pick<IngressParts, 'sources' | 'secrets' | 'sealer'> {
  readonly records: TenantRecords;
  /** Milliseconds since the epoch, by the clock of senders. */
  readonly wallNow: () => number;
  readonly logger: Logger;
}

const deliveryIdCharactersMax = 500;
const retryAfterMs = 60_000;

export const tokenHash = (token: string): string => hash('sha256', token);

export function createHookApi(ports: HookPorts, deliver: Deliver): HookApi {
  const { sources, secrets, sealer, records, wallNow, logger } = ports;

  async function secretOf({ tenant, secret: name }: Source): Promise<string> {
    const secret = await secrets.get(tenant, name);
    if (secret === null) throw new Fault('UNAVAILABLE', 'The secret of this source does not exist.', { retryAfterMs });
    return sealer.open({ tenant, name }, secret.sealed);
  }

  async function bring(source: Source, headers: DeliveryHeaders, body: JsonObject): Promise<Answered<HookAnswer>> {
    const { tenant, id, name, kind, agent } = source;
    const challenge = kind === 'slack' && body['type'] === 'url_verification' ? body['challenge'] : undefined;
    if (typeof challenge === 'string') return answered({ challenge });
    const place = deliveryIdPlaces[kind];
    const deliveryId = 'header' in place ? headerOf(headers, place.header) : body[place.member];
    if (typeof deliveryId !== 'string' || deliveryId === '' || deliveryId.length > deliveryIdCharactersMax)
      return invalid([
        'header' in place
          ? { pointer: '', detail: `needs the header ${place.header}, the id of the delivery` }
          : { pointer: `/${place.member}`, detail: 'is the id of the delivery, and must be a text' },
      ]);
    const words = rendered(source.message, body);
    const arrived = await deliver({
      ...{ tenant, agent, name: nameOfText(JSON.stringify(['delivery', tenant, id, deliveryId])) },
      externalId: keyOf(source.key, body, headers),
      text: words.trim() === '' ? `[delivery ${deliveryId} of ${name}]` : words,
      from: { source: { name, deliveryId } },
    });
    if (!arrived.ok && arrived.refusal.code === 'INVALID_BODY')
      throw new Fault('UNAVAILABLE', 'The agent of this source does not exist.', { retryAfterMs });
    return arrived;
  }

  return {
    async find(given, token) {
      const tokenSha256 = tokenHash(token);
      const source = await sources.byToken(tokenSha256); // (K1)
      const isIt =
        source !== null &&
        timingSafeEqual(Buffer.from(source.tokenSha256), Buffer.from(tokenSha256)) &&
        (source.name === given || source.id === given);
      if (!isIt) return notFound('source');
      const record = await records.of(source.tenant);
      return record?.state === 'deleting' || record?.state === 'deleted' ? notFound('source') : answered(source); // (K4)
    },
    async receive(source, delivery) {
      const { tenant, name, kind } = source;
      const refuse = (answer: Answered<never>): Answered<never> => {
        if (!answer.ok) logger.warn('hook_refused', { tenant, source: name, code: answer.refusal.code }); // (K5)
        return answer;
      };
      if (!isSigned(kind, await secretOf(source), delivery, wallNow())) return refuse(badSignature); // (K2)
      const text = textOf(delivery.body);
      if (text === null) return refuse(refused('INVALID_JSON', 'The body is not valid UTF-8.'));
      const read = await inTurns(checkingJson(text));
      if (!read.ok) {
        const { code, pointer, detail } = read.problem;
        return refuse(refused(code, `The body was refused: ${detail}.`, { errors: [{ pointer, detail }] }));
      }
      if (!isJsonObject(read.value)) return refuse(refused('INVALID_JSON', 'The body is no JSON object.'));
      const brought = await bring(source, delivery.headers, read.value);
      return brought.ok ? brought : refuse(brought);
    },
  };
}

const badSignature = refused('UNAUTHENTICATED', 'The signature is not one of this source’s secret, or too old.');

/** Where the sender has put the id of the delivery. */
const deliveryIdPlaces: Readonly<Record<Source['kind'], { readonly header: string } | { readonly member: string }>> = {
  github: { header: 'x-github-delivery' },
  stripe: { member: 'id' },
  slack: { member: 'event_id' },
  standard: { header: 'webhook-id' },
};
