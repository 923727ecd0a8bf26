// Where the messages of one topic of the work bus are handled, in one process: the places, and the room for what waits.
//
// Invariants:
//   L1. A message is handled in a place, which keys and tenants share. (work-bus W3, fair-semaphore)
//   L2. Of what is held (waiting for a place, or for its next attempt) a tenant has no more than it leaves for others.
//       A message beyond that is crowded: it is handled soon all the same, in places of its own, so that it can be
//       refused. It waits behind other crowded ones only. (work-bus W4, shared-room)
import { storedTenantId } from '@dormouse/thread';
import { createFairSemaphore, createSharedRoom, withPlace } from '@dormouse/collections';
import { placeKeyOf, placeOwnerOf, type WorkPlace, type WorkShares, type WorkTopics } from './work-bus.ts';

export interface WorkPlaces {
  /** Holds the message until `leave`. */
  hold(message: WorkTopics[keyof WorkTopics]): HeldMessage;
  readonly held: number;
}

export interface HeldMessage {
  /** Runs `work` when there is a place. May be called again, for the next attempt. */
  inPlace<Result>(work: (place: WorkPlace) => Promise<Result>): Promise<Result>;
  leave(): void;
}

/** A refusal is a read and a write. */
const crowdedInFlightMax = 32;

export function createWorkPlaces(
  { inFlightMax, heldMax }: { readonly inFlightMax: number; readonly heldMax: number },
  tenants: WorkShares,
): WorkPlaces {
  const shares = { ownerOf: placeOwnerOf, weightOf: (owner: string) => tenants.weightOf(storedTenantId(owner)) };
  const places = createFairSemaphore(inFlightMax, shares);
  const crowdedPlaces = createFairSemaphore(crowdedInFlightMax, shares);
  const room = createSharedRoom(heldMax);
  return {
    hold(message) {
      const { tenant } = message;
      const isCrowded = !room.hasRoom(tenant); // (L2)
      room.enter(tenant);
      return {
        inPlace: (work) =>
          withPlace(isCrowded ? crowdedPlaces : places, placeKeyOf(message), (place) => work({ ...place, isCrowded })),
        leave: () => room.leave(tenant),
      };
    },
    get held() {
      return room.taken;
    },
  };
}
