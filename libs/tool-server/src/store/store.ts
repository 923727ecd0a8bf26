/**
 * Owns: what a tool server keeps, as tables of rows, whatever they are kept in: a file of a data directory
 * (`sqlite-store.ts`) or memory (`memory-store.ts`). `store.contract.ts` holds both to the same behaviour.
 * Not here: what the rows mean; what is secret in them is sealed before it comes here.
 *
 * 1. Everything is synchronous: nothing else of the process runs between two steps of a transaction.
 * 2. A transaction is all or nothing, in memory too. Transactions may be nested; the outermost one decides.
 * 3. A row is never changed in place: what was read stays as it was.
 */
import type { Vault } from '../ask/vault.ts';

/** What the vault has sealed. */
export type Sealed = Uint8Array;

export interface Store {
  readonly vault: Vault;
  /** (2) */
  readonly transaction: <Value>(work: () => Value) => Value;
  readonly values: Values;
  readonly calls: CallTable;
  readonly messages: MessageTable;
  readonly subscriptions: SubscriptionTable;
  readonly events: EventTable;
  readonly threads: ThreadTable;
  readonly memory: MemoryEntries;
  readonly views: ViewTable;
  readonly logins: LoginTable;
  readonly tokens: TokenTable;
  readonly questions: QuestionTable;
  /** Writes everything, and the key that was made for it, into an existing directory. @throws Error in memory. */
  readonly copyInto: (directory: string) => void;
  readonly close: () => void;
}

/** Single values of the server itself. */
export interface Values {
  readonly get: (name: string) => Sealed | undefined;
  /** For a name that has none. */
  readonly add: (name: string, sealed: Sealed) => void;
}

export type CallState = 'running' | 'subscribed' | 'ended';

export interface CallRow {
  readonly key: string;
  readonly thread: string;
  readonly call: string;
  readonly state: CallState;
  readonly operation: string;
  /** Null once the call has ended. */
  readonly sealed: Sealed | null;
  readonly at: number;
  /** The restarts during its work. */
  readonly restarts: number;
  /** It waits for a user. */
  readonly isAsking: boolean;
  /** Digest of operation and arguments; null in rows of older releases, which repeat any work of their id. */
  readonly work: string | null;
  /** Digest of the `Idempotency-Key`. */
  readonly delivery: string | null;
  readonly answer: Sealed | null;
}

export interface CallTable {
  /** A call that runs. */
  readonly add: (
    call: Pick<CallRow, 'key' | 'thread' | 'call' | 'operation' | 'sealed' | 'at' | 'work' | 'delivery'>,
  ) => void;
  readonly get: (key: string) => CallRow | undefined;
  /**
   * The latest call with this thread, id, work and delivery. One without a delivery counts while it runs, and when it
   * was taken after `since`.
   */
  readonly repeated: (
    posted: Pick<CallRow, 'thread' | 'call' | 'work' | 'delivery'>,
    since: number,
  ) => CallRow | undefined;
  /** Keys of all calls of this id. */
  readonly keysOf: (thread: string, call: string) => readonly string[];
  /** False when the call is in none of the states `from`. A call that ends loses what was sealed of it. */
  readonly move: (key: string, from: readonly CallState[], to: CallState) => boolean;
  readonly answer: (key: string, answer: Sealed) => void;
  readonly setAsking: (key: string, isAsking: boolean) => void;
  /** Counts a restart for the calls that run and wait for no user. */
  readonly countRestart: () => void;
  /** Those that have not ended, oldest first. */
  readonly open: () => readonly CallRow[];
  /** Forgets ended calls of before `before`, those beyond `rowsMax`, and answers beyond `answersBytesMax` in total. */
  readonly sweep: (limits: {
    readonly before: number;
    readonly rowsMax: number;
    readonly answersBytesMax: number;
  }) => void;
}

export interface MessageRow {
  readonly seq: number;
  readonly lane: string;
  /** Its id in every attempt. */
  readonly message: string;
  readonly sealed: Sealed;
  readonly subscription: string | null;
  readonly at: number;
  readonly due: number;
  readonly attempts: number;
}

export interface MessageTable {
  /** Returns its `seq`, which is greater than every one before. */
  readonly add: (message: Omit<MessageRow, 'seq' | 'attempts'>) => number;
  readonly get: (seq: number) => MessageRow | undefined;
  /** By `seq`. */
  readonly all: () => readonly Pick<MessageRow, 'seq' | 'lane'>[];
  readonly retry: (seq: number, attempts: number, due: number) => void;
  readonly delete: (seq: number) => void;
  /** How many there were. */
  readonly deleteOf: (subscription: string) => number;
  readonly count: () => number;
  readonly countOf: (subscription: string) => number;
}

export interface SubscriptionRow {
  readonly id: string;
  readonly thread: string;
  readonly call: string;
  readonly tool: string;
  readonly sealed: Sealed;
  readonly at: number;
  readonly expires: number;
}

export interface SubscriptionTable {
  /** False when there is one of this id. */
  readonly add: (subscription: SubscriptionRow) => boolean;
  /** Oldest first. */
  readonly all: () => readonly SubscriptionRow[];
  readonly of: (thread: string) => readonly SubscriptionRow[];
  /** Ids of those that expire at `now` or before. */
  readonly expired: (now: number) => readonly string[];
  readonly delete: (id: string) => void;
}

/** Events that a subscription has sent. */
export interface EventTable {
  /** False when it is there. */
  readonly add: (subscription: string, event: string, at: number) => boolean;
  /** Forgets those before `before`, and before `endedBefore` where their subscription has ended. */
  readonly sweep: (before: number, endedBefore: number) => void;
}

export interface ThreadTable {
  readonly seen: (thread: string, at: number) => void;
  readonly delete: (thread: string) => void;
  /** Threads that were seen before `before` only, and have no subscription. */
  readonly silentSince: (before: number) => readonly string[];
}

/** What tools remember of a thread, by name. */
export interface MemoryEntries {
  readonly get: (thread: string, name: string) => Sealed | undefined;
  readonly set: (thread: string, name: string, sealed: Sealed) => void;
  /** An existing value stays. */
  readonly addMissing: (thread: string, name: string, sealed: Sealed) => void;
  readonly delete: (thread: string, name: string) => void;
  readonly of: (thread: string) => readonly { readonly name: string; readonly sealed: Sealed }[];
  readonly deleteOf: (thread: string) => void;
}

/** The views that a thread shows. */
export interface ViewTable {
  readonly add: (thread: string, type: string) => void;
  /** False when there was none. */
  readonly delete: (thread: string, type: string) => boolean;
  readonly deleteOf: (thread: string) => void;
}

/** Logins that were begun. */
export interface LoginTable {
  readonly add: (state: string, sealed: Sealed, expires: number) => void;
  /** Returns it once. */
  readonly take: (state: string) => { readonly sealed: Sealed; readonly expires: number } | undefined;
  readonly sweep: (now: number) => void;
}

export interface TokenTable {
  readonly get: (provider: string, owner: string) => Sealed | undefined;
  readonly set: (provider: string, owner: string, sealed: Sealed, at: number) => void;
  readonly delete: (provider: string, owner: string) => void;
}

export interface QuestionRow {
  /** Digest of the path of its answer. */
  readonly path: string;
  /** Of its call. */
  readonly key: string;
  readonly call: string;
  readonly ordinal: number;
  readonly sealed: Sealed;
  readonly expires: number;
}

export interface QuestionTable {
  readonly get: (path: string) => QuestionRow | undefined;
  readonly at: (key: string, ordinal: number) => QuestionRow | undefined;
  /** Adds a question, in place of those of its call from this ordinal on. */
  readonly place: (question: QuestionRow) => void;
  readonly answer: (path: string, sealed: Sealed) => void;
  /** Forgets those that have expired and whose call does not run. */
  readonly sweep: (now: number) => void;
}
