// A rig for the ingress specs: a memory world with a log that specs write by hand, and an ingress over it.
import {
  createManualClock,
  createMemoryWorld,
  createSeededEntropy,
  type ManualClock,
  type MemoryPorts,
} from '@dormouse/adapter-memory';
import { tenantId, type Commit, type ThreadKey } from '@dormouse/ports';
import type { RecordedEvent, ThreadEffect, ThreadEvent } from '@dormouse/thread';
import { createCallbackTokens } from '../../callback-gateway/callback-token.ts';
import { sealCommit } from '../../log/envelope.ts';
import { createIngress, type Ingress } from '../ingress.ts';
import type { IngressPorts } from '../ingress-ports.ts';

export interface IngressRig {
  readonly ports: MemoryPorts;
  readonly clock: ManualClock;
  readonly ingress: Ingress;
  /** Another ingress over the same ports, except for these. */
  ingressWith(others: Partial<IngressPorts>): Ingress;
  /** Appends one commit at the thread's head and gives it; published to watchers unless `silent`; it owes `effects`. */
  commit(
    key: ThreadKey,
    events: readonly ThreadEvent[],
    inputs?: readonly string[],
    silent?: boolean,
    effects?: readonly ThreadEffect[],
  ): Promise<Commit>;
}

export function ingressRig(): IngressRig {
  const clock = createManualClock();
  const world = createMemoryWorld({ clock });
  const ports = world.ports('ingress');
  const entropy = createSeededEntropy(7);
  const ingressWith = (others: Partial<IngressPorts>): Ingress =>
    createIngress({
      ...ports,
      bus: ports.inputs,
      idempotencyKeys: ports.idempotency,
      clock,
      entropy,
      sealer: { seal: (_owner, value) => `sealed:${value.length}`, open: (_owner, sealed) => sealed },
      signingKey: new Uint8Array(32).fill(1),
      auditSigner: { kid: 'unused', sign: () => '', keys: { keys: [] } },
      callbackTokens: createCallbackTokens({
        keys: [{ id: 'k1', secret: new Uint8Array(32).fill(2), since: 0, revoked: false }],
        publicBase: 'https://agents.example',
      }),
      validateArguments: null,
      ...others,
    });
  return {
    ports,
    clock,
    ingress: ingressWith({}),
    ingressWith,
    async commit(key, events, inputs = [`i:${entropy.nonce()}`], silent = false, effects = []) {
      const head = await ports.log.head(key);
      const version = head === null ? 0 : head.version + head.count;
      const recorded = events.map((event): RecordedEvent => ({
        ...event,
        turnId: 'msg_1',
        cause: { kind: 'operator', id: 'spec' },
      }));
      const sealed = sealCommit({
        key,
        version,
        inputs,
        at: clock.now(),
        nonce: entropy.nonce(),
        trace: null,
        prev: head?.hash ?? '',
        events: recorded,
        effects,
      });
      const [outcome] = await ports.log.append([{ commit: sealed, owes: false }]);
      if (outcome !== 'appended') throw new Error(`append: ${outcome}`);
      if (!silent) ports.feed.publish(key, { hint: 'committed', commit: sealed });
      return sealed;
    },
  };
}

export const key: ThreadKey = { tenant: tenantId('acme'), thread: 'thr_1' };

export const spoken = (text: string): ThreadEvent => ({
  type: 'MessageAccepted',
  messageId: `msg_${text}`,
  content: [{ type: 'text', text }],
});
