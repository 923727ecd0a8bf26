// Who is served next, broken.
import type { ProcessorProtocol } from '@dormouse/runtime';
import type { Mutant } from '../mutant.ts';

type CreateSlots = ProcessorProtocol['createSlots'];
type Waiter = Parameters<ReturnType<CreateSlots>['wait']>[0];

const firstComeFirstServed: CreateSlots = (max) => {
  const queue = new Set<Waiter>();
  let taken = 0;
  function serveWaiting(): void {
    for (const waiter of queue) {
      if (taken >= max) return;
      queue.delete(waiter);
      taken += 1;
      waiter.serve();
    }
  }
  return {
    take: () => {
      if (taken >= max || queue.size > 0) return false;
      taken += 1;
      return true;
    },
    wait: (waiter) => {
      queue.add(waiter);
      return true;
    },
    leave: (waiter) => queue.delete(waiter),
    give: () => {
      taken -= 1;
      serveWaiting();
    },
    look: serveWaiting,
    get waiting() {
      return queue.size;
    },
    get taken() {
      return taken;
    },
  };
};

export const fairnessMutants: Readonly<Record<string, Mutant>> = {
  firstComeFirstServed: {
    breaks: 'completions get their slots in the order in which they came, whichever tenants they are of',
    faults: { crowd: 12 },
    protocol: () => ({ createSlots: firstComeFirstServed }),
  },
};
