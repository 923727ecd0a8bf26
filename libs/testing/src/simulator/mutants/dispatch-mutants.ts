// The dispatcher and its ledger, broken.
import type { Mutant, MutantContext } from '../mutant.ts';

const withLedger =
  (change: (context: MutantContext) => Partial<MutantContext['ports']['ledger']>) => (context: MutantContext) => ({
    ...context.ports,
    ledger: { ...context.ports.ledger, ...change(context) },
  });

export const dispatchMutants: Readonly<Record<string, Mutant>> = {
  ledgerForgets: {
    breaks: 'the dispatcher keeps no outcome (H8)',
    ports: withLedger(({ ports }) => ({
      read: async (key, subject) => {
        const entry = await ports.ledger.read(key, subject);
        return entry === null ? null : { ...entry, outcome: null };
      },
      look: async (key, toolCallId) => {
        const { entry, attempts } = await ports.ledger.look(key, toolCallId);
        return { attempts, entry: entry === null ? null : { ...entry, outcome: null } };
      },
    })),
  },
  claimAlwaysWon: {
    breaks: 'at-most-once calls and notices are sent without a claim',
    ports: withLedger(() => ({ claim: async () => true })),
  },
  claimAfterPost: {
    breaks: 'an at-most-once call is claimed after its POST',
    ports: withLedger(({ ports, clock }) => ({
      claim: async (key, subject, nonce, at) => {
        const entry = await ports.ledger.read(key, subject);
        if (entry !== null && entry.nonce !== null) return entry.nonce === nonce;
        void clock.sleep(800).then(() => ports.ledger.claim(key, subject, nonce, at).catch(() => false));
        return true;
      },
    })),
  },
  atMostOnceRetried: {
    breaks: 'a POST without an answer is sent again, whatever its class',
    transport: (transport) => ({
      ...transport,
      post: async (request) => {
        const outcome = await transport.post(request);
        return outcome.sent || !outcome.reached ? outcome : transport.post(request);
      },
    }),
  },
  markForgotten: {
    breaks: 'what a pause holds is let go of without a mark (holding H1)',
    faults: { pauses: 1 },
    ports: ({ ports }) => ({ ...ports, heldThreads: { ...ports.heldThreads, hold: async () => {} } }),
  },
  withdrawalNotWritten: {
    breaks: 'a withdrawn call is not written down as cancelled (V7)',
    harmlessBecause:
      'a withdrawal narrows the window for a late first POST and cannot close it; no promise rests on it',
    ports: withLedger(({ ports }) => ({
      settle: async (key, subject, outcome, detail, attempt) =>
        outcome === 'cancelled' ? outcome : ports.ledger.settle(key, subject, outcome, detail, attempt),
    })),
  },
};
