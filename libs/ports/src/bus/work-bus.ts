// The topics `dispatches` and `notices`: debts on their way to the workers that pay them. At least once, unordered.
//
// Contract (contracts/work-bus.contract.ts):
//   W1. After `publish` answered the message is handled at least once, provided its commit is not released before
//       `handled` (null: the bus itself is durable and the commit may be released at once).
//   W2. A handler that rejects is called again with backoff; messages of other keys are not held up by it.
//   W3. A message is handled in a place. Places are shared by `placeKeyOf`, in turns; a handler that waits gives its
//       place back meanwhile. Tenants that wait for one are served by their weights.
//   W4. However much one tenant has waiting, others' messages are handled: of what the bus holds a tenant has no more
//       than it leaves free, and the place of a message beyond that says so. A bus for specs may hold any number.
import { type Place, uncountedPlace } from '@dormouse/collections';
import type {
  AnswerChoice,
  InvokeTool,
  LoadToolsets,
  MigrateToolServers,
  SendCancelNotices,
  SendCloseNotices,
  WithdrawCall,
  TenantId,
} from '@dormouse/thread';
import type { Subscription } from './input-bus.ts';
import type { ThreadKey } from '../log/thread-key.ts';

/** An effect on the bus: with the thread it belongs to and the time of its commit. */
export type Owed<Effect> = ThreadKey & {
  readonly effect: Effect;
  readonly at: number;
  /** W3C trace context: of the `execute_tool` for a tool call, else of what caused the commit. */
  readonly trace: string | null;
  /** For a traced tool call: the context of the `invoke_agent` that requested it. */
  readonly agent?: string;
};

export interface WorkTopics {
  readonly dispatches: Owed<InvokeTool | WithdrawCall | LoadToolsets | MigrateToolServers>;
  readonly notices: Owed<SendCancelNotices | SendCloseNotices | AnswerChoice>;
}

export interface Receipt {
  /** Resolves when the message no longer depends on its commit being owed; null when that is already so. */
  readonly handled: Promise<void> | null;
}

/** Where a message is handled. */
export interface WorkPlace extends Place {
  /** More of its tenant waits than it leaves room for others: what can be refused has to be. (W4) */
  readonly isCrowded: boolean;
}

/** The place of a bus that bounds nothing. */
export const unboundedPlace: WorkPlace = { ...uncountedPlace, isCrowded: false };

export interface WorkShares {
  /** Above 0. */
  weightOf(tenant: TenantId): number;
}

export interface WorkBus {
  publish<Topic extends keyof WorkTopics>(topic: Topic, message: WorkTopics[Topic]): Promise<Receipt>;
  consume<Topic extends keyof WorkTopics>(
    topic: Topic,
    handle: (message: WorkTopics[Topic], place: WorkPlace) => Promise<void>,
    /** Default: all tenants have the same weight. */
    shares?: WorkShares,
  ): Promise<Subscription>;
}

/**
 * Messages of one tenant to the same tool servers share places: those of a server that is away wait for each other, not
 * others for them. (W3)
 */
export function placeKeyOf({ tenant, effect }: WorkTopics[keyof WorkTopics]): string {
  switch (effect.do) {
    case 'InvokeTool':
      return `${tenant} ${effect.toolServer}`;
    case 'LoadToolsets':
    case 'SendCancelNotices':
    case 'SendCloseNotices':
      return `${tenant} ${effect.do} ${[...effect.toolServers].join(' ')}`;
    default:
      return `${tenant} ${effect.do}`;
  }
}

/** The tenant of a key of places. */
export const placeOwnerOf = (key: string): string => key.slice(0, key.indexOf(' '));
