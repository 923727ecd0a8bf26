// Parked threads without one of their guarantees, in universes with poison.
import type { Mutant } from '../mutant.ts';

const faults = { poison: 0.06 };

export const parkingMutants: Readonly<Record<string, Mutant>> = {
  putAsideNowhere: {
    breaks: 'what is put aside is released before it is durable (Q1)',
    faults,
    ports: ({ ports }) => ({ ...ports, parked: { ...ports.parked, add: async () => {} } }),
  },
  markOverlooked: {
    breaks: 'an owner looks for no mark but those it has set itself (P1)',
    faults,
    ports: ({ ports }) => {
      const own = new Set<string>();
      return {
        ...ports,
        parked: {
          ...ports.parked,
          park: async (key, ...why) => {
            await ports.parked.park(key, ...why);
            own.add(key.thread);
          },
          mark: async (key) => (own.has(key.thread) ? ports.parked.mark(key) : null),
        },
      };
    },
  },
  forgottenWhenDecided: {
    breaks: 'a replayed input is forgotten when it is decided, not when what it led to is handled (Y1)',
    faults: { poison: 0.15 },
    ports: ({ ports }) => ({
      ...ports,
      log: {
        ...ports.log,
        append: async (group) => {
          const outcomes = await ports.log.append(group);
          const stored = group.filter((_, place) => outcomes[place] === 'appended');
          for (const { commit } of stored) for (const input of commit.inputs) await ports.parked.remove(commit, input);
          return outcomes;
        },
      },
    }),
  },
  neverWokenAgain: {
    breaks: 'nobody looks for threads that are to be replayed (Z2)',
    faults: { ...faults, crash: 0.004 },
    ports: ({ ports }) => ({ ...ports, parked: { ...ports.parked, replays: async () => [] } }),
  },
};
