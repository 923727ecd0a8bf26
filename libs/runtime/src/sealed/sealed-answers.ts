// Answers that are kept for repeated requests, sealed where they are about a thread: with the key of its family.
//
// Invariants:
//   A1. A claim that is made after `finish` was called sees the answer: it waits until that is sealed. (idempotency K2)
import { type IdempotencyKeys, type KeptAnswer, type TenantId } from '@dormouse/ports';
import type { Place } from './content-seal.ts';
import type { SealingDeps } from './sealed-copies.ts';

/** The first thread that a route or an answer names. */
const threadId = /\bthr_\w+/;

/** What is left of an answer that was erased: no 2xx. (idempotency P6) */
const erasedAnswer: KeptAnswer = { status: 404, body: '' };

export function sealedAnswers(keys: IdempotencyKeys, { seal, families }: SealingDeps): IdempotencyKeys {
  const placeOf = (route: string, key: string): Place => ['answer', route, key];
  /** Answers that are being sealed. (A1) */
  const finishing = new Map<string, Promise<void>>();

  async function finish(tenant: TenantId, route: string, key: string, answer: KeptAnswer): Promise<void> {
    const thread = threadId.exec(route)?.[0] ?? threadId.exec(answer.body)?.[0];
    if (thread === undefined) return keys.finish(tenant, route, key, answer);
    const family = await families.of({ tenant, thread });
    const body = await seal.seal(tenant, family, placeOf(route, key), answer.body);
    if (body !== null) await keys.finish(tenant, route, key, { ...answer, body });
  }

  return {
    ...keys,
    async claim(tenant, route, key, ...rest) {
      await finishing.get(JSON.stringify([tenant, route, key])); // (A1)
      const claim = await keys.claim(tenant, route, key, ...rest);
      if (claim.claim !== 'done') return claim;
      const body = await seal.open(tenant, placeOf(route, key), claim.answer.body);
      return { claim: 'done', answer: body === null ? erasedAnswer : { ...claim.answer, body } };
    },
    async finish(tenant, route, key, answer) {
      const name = JSON.stringify([tenant, route, key]);
      const sealing = finish(tenant, route, key, answer);
      const settled = sealing.catch(() => undefined);
      finishing.set(name, settled);
      try {
        await sealing;
      } finally {
        finishing.delete(name);
      }
    },
  };
}
