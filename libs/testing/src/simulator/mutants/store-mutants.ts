// Stores and gateways without one of their guarantees.
import type { AppendOutcome } from '@dormouse/ports';
import type { Mutant } from '../mutant.ts';
import { delivering } from './changed-deliveries.ts';

/** Appends without one of the two unique keys. */
const appendingWithout =
  (key: 'version' | 'input'): NonNullable<Mutant['world']> =>
  ({ durable: { log } }) => {
    const sound = log.append.bind(log);
    log.append = (append): AppendOutcome => {
      const { commit, owes } = append;
      const thread = log.threads.get(`${commit.tenant}:${commit.thread}`);
      if (thread === undefined) return sound(append);
      const head = thread.commits.at(-1);
      const taken = commit.version !== (head === undefined ? 0 : head.version + head.count);
      const known = commit.inputs.some((input) => thread.byInput.has(input));
      if (key === 'version' ? known || !taken : taken || !known) return sound(append);
      thread.commits.push(commit);
      for (const input of commit.inputs) thread.byInput.set(input, commit);
      if (owes) log.owed.get(`${commit.tenant}:${commit.thread}`)?.versions.add(commit.version);
      log.onAppended(commit);
      return 'appended';
    };
  };

export const storeMutants: Readonly<Record<string, Mutant>> = {
  noVersionCheck: { breaks: 'no unique (thread, version)', world: appendingWithout('version') },
  noInputUnique: { breaks: 'no unique (thread, input)', world: appendingWithout('input') },
  acknowledgedBeforeDurable: {
    breaks: 'gateways answer before the input is durable',
    ports: ({ ports, node }) => {
      if (!/^(?:ingress|callback)/.test(node)) return ports;
      const publish: typeof ports.inputs.publish = async (...about) =>
        void ports.inputs.publish(...about).catch(() => undefined);
      return { ...ports, inputs: { ...ports.inputs, publish } };
    },
  },
  dedupBeforeDurable: {
    breaks: 'the dedup learns of a callback before it is durable: the dedup is the only dedup',
    ports: ({ ports, node }) => {
      if (!node.startsWith('callback')) return ports;
      const publish: typeof ports.inputs.publish = async (key, input, trace) => {
        await Promise.resolve(ports.dedup.remember(key.tenant, `${key.thread}:${input.id}`)).catch(() => undefined);
        await ports.inputs.publish(key, input, trace);
      };
      return { ...ports, inputs: { ...ports.inputs, publish } };
    },
  },
  recoveryIgnored: {
    breaks: 'standalone: owed rows are forgotten at start (H10, V10)',
    topology: 'standalone',
    ports: delivering((delivery) => {
      if (delivery.what !== 'recovery') return delivery;
      delivery.release();
      return null;
    }),
  },
};
