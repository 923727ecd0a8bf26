// What an operator may do with a thread that an input has poisoned: see it, replay it, leave an input out.
//
// Invariants:
//   V1. A replay is a mark, and the owner of the thread carries it out: only the owner has the inputs that are under
//       way. A wake makes the owner read the mark; should the wake be lost, the sweeper repeats it.
//   V2. What is dropped stays to be seen: nothing that was acknowledged vanishes.
import {
  type ParkedInput,
  type ParkedThread,
  type PageRequest,
  replayWake,
  type ThreadKey,
  type TenantId,
  type Page,
} from '@dormouse/ports';
import type { IngressParts } from '../ingress-ports.ts';
import { apiType } from '../read/api-json.ts';
import { answered, type Answered, notFound } from '../refusal.ts';

export interface ParkedInputView extends Pick<ParkedInput, 'droppedAt'> {
  readonly id: string;
  readonly kind: string;
}

export interface ParkedView extends Pick<ParkedThread, 'reason' | 'parkedAt'> {
  readonly threadId: string;
  readonly state: ParkedThread['mark'];
}

export interface ParkedApi {
  list(tenant: TenantId, page: PageRequest): Promise<Page<ParkedView>>;
  show(key: ThreadKey): Promise<Answered<ParkedView & { readonly inputs: readonly ParkedInputView[] }>>;
  replay(key: ThreadKey): Promise<Answered<ParkedView>>;
  drop(key: ThreadKey, inputId: string): Promise<Answered<ParkedInputView>>;
}

export function createParkedApi({ parked, bus, clock }: Pick<IngressParts, 'parked' | 'bus' | 'clock'>): ParkedApi {
  return {
    async list(tenant, page) {
      const found = await parked.list(tenant, page);
      return { data: found.data.map(viewOf), nextCursor: found.nextCursor };
    },
    async show(key) {
      const thread = await parked.get(key);
      if (thread === null) return notFound('parked thread');
      return answered({ ...viewOf(thread), inputs: (await parked.inputs(key)).map(inputView) });
    },
    async replay(key) {
      const thread = await parked.get(key);
      if (thread === null || !(await parked.replay(key))) return notFound('parked thread');
      await bus.publish(key, replayWake); // (V1)
      return answered(viewOf({ ...thread, mark: 'replay' }));
    },
    async drop(key, inputId) {
      if (!(await parked.drop(key, inputId, clock.now()))) return notFound('parked input');
      const dropped = (await parked.inputs(key)).find(({ input }) => input.id === inputId); // (V2)
      return dropped === undefined ? notFound('parked input') : answered(inputView(dropped));
    },
  };
}

const viewOf = ({ thread, mark, reason, parkedAt }: ParkedThread): ParkedView => ({
  ...{ threadId: thread, state: mark, reason, parkedAt },
});

const inputView = ({ input, droppedAt }: ParkedInput): ParkedInputView => ({
  ...{ id: input.id, kind: apiType(input.kind), droppedAt },
});
