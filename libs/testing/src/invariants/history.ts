// The observations of a run, for judgement: of the simulator, a chaos run over real stores, an end-to-end test. All of
// them are made from outside; a run that cannot observe something leaves its list empty, and the checker that needs it
// is silent (a run says which checkers were silent, see `silent`).
//
// A *moment* is a number that only ever grows: simulated steps, or milliseconds where nothing finer exists. Two
// observations with the same moment have no order.
import type { Commit, Snapshot, ThreadKey } from '@dormouse/ports';
import type { ModelMessage } from '@dormouse/thread';

export type Moment = number;

export interface ThreadHistory {
  readonly key: ThreadKey;
  /** All commits, as read at the end. */
  readonly commits: readonly Commit[];
}

/** What a client sent; `answeredAt` is the moment of a 2xx, null when there was none. */
export interface SentRequest {
  readonly key: ThreadKey;
  readonly kind: 'opening' | 'message' | 'interrupt' | 'retry' | 'close' | 'cancel_call' | 'choice';
  /** Dedup key of the input, `c:…`. */
  readonly inputId: string;
  /** For a message its `msg_…`, null for the others. */
  readonly messageId: string | null;
  readonly sentAt: Moment;
  readonly answeredAt: Moment | null;
}

/** A callback from a tool server, or from a sender that claims to be one. */
export interface SentCallback {
  readonly key: ThreadKey;
  readonly toolCallId: string;
  /** Of an event that carried one. */
  readonly eventId?: string;
  readonly type: 'tool_result' | 'event' | 'other';
  /** Text by which the result can be recognised in the log. */
  readonly text: string;
  /** False for forged tokens, other servers' calls, calls that were never sent to this server. */
  readonly legitimate: boolean;
  readonly sentAt: Moment;
  /** HTTP status, null when no answer came. */
  readonly status: number | null;
}

/** A POST as the tool server received it. */
export interface ReceivedPost {
  readonly toolServer: string;
  readonly thread: string;
  readonly toolCallId: string;
  readonly operation: string;
  /** As sent. */
  readonly arguments: unknown;
  readonly receivedAt: Moment;
  /** When the sender last read the call's outcome before it sent; the moment of the POST when unknown. (I-08) */
  readonly lookedUpAt: Moment;
}

export interface ReceivedNotice {
  readonly toolServer: string;
  readonly notice: 'cancel_tool_call' | 'close_thread';
  /** The call's id, or the thread's. */
  readonly subject: string;
}

/** A 4xx that is in the ledger. */
export interface RecordedRefusal {
  readonly toolCallId: string;
  readonly recordedAt: Moment;
}

/** An input that was refused for good without a commit. */
export interface FinalRefusal {
  readonly key: ThreadKey;
  readonly inputId: string;
}

/** A prompt as the model received it. */
export interface SeenPrompt {
  readonly key: ThreadKey;
  readonly completionId: string;
  readonly messages: readonly ModelMessage[];
}

export interface SeenSnapshot {
  readonly key: ThreadKey;
  readonly snapshot: Snapshot;
}

/** What one reader of a thread's event stream received, over all its connections. (I-19) */
export interface SeenStream {
  readonly key: ThreadKey;
  /** Position and type, in the API's spelling, in the order given. */
  readonly events: readonly { readonly position: number; readonly type: string }[];
}

/**
 * What happened to the completion slots of one process: a completion takes a free slot, or waits until it is served or
 * leaves; a slot is given back at its end. In this order. (I-26)
 */
export interface SlotStep {
  readonly process: string;
  readonly step: 'taken' | 'waits' | 'served' | 'left' | 'given';
  readonly tenant: string;
  /** The weight of the tenant; null for one that a quota may hold back. */
  readonly weight: number | null;
}

/** Something was wiped, and these were the last commits of the threads at that moment. */
export interface Wipe {
  readonly what: string;
  readonly heads: readonly Commit[];
}

/** A violation that the run itself observed, at the moment it happened. */
export interface Violation {
  readonly id: InvariantId;
  readonly text: string;
}

export type InvariantId =
  | 'I-01'
  | 'I-02'
  | 'I-03'
  | 'I-04'
  | 'I-05'
  | 'I-06'
  | 'I-07'
  | 'I-08'
  | 'I-09'
  | 'I-10'
  | 'I-11'
  | 'I-12'
  | 'I-13'
  | 'I-14'
  | 'I-15'
  | 'I-16'
  | 'I-17'
  | 'I-18'
  | 'I-19'
  | 'I-20'
  | 'I-21'
  | 'I-23'
  | 'I-24'
  | 'I-26'
  | 'V3';

export interface History {
  readonly threads: readonly ThreadHistory[];
  /** Commits as they were read earlier. */
  readonly sightings: readonly Commit[];
  readonly requests: readonly SentRequest[];
  readonly callbacks: readonly SentCallback[];
  readonly posts: readonly ReceivedPost[];
  readonly notices: readonly ReceivedNotice[];
  readonly recordedRefusals: readonly RecordedRefusal[];
  /** Null when it was not observed. */
  readonly finalRefusals: readonly FinalRefusal[] | null;
  readonly prompts: readonly SeenPrompt[];
  readonly snapshots: readonly SeenSnapshot[];
  readonly streams: readonly SeenStream[];
  readonly slots: readonly SlotStep[];
  readonly wipes: readonly Wipe[];
  /** Calls whose dispatch was handed to the work bus; null when it was not observed. */
  readonly handedOver: ReadonlySet<string> | null;
  /** Ids of threads whose agent was paused while they owed a call. */
  readonly held: ReadonlySet<string>;
  /** Per tenant a text that only its own clients and tools ever use. */
  readonly canaries: Readonly<Record<string, string>>;
  /** Texts that must never be stored: callback tokens, credentials. */
  readonly secrets: readonly string[];
  /** Null when the run was stopped in the middle; else why it is not at rest, or [] when it is. */
  readonly unrest: readonly string[] | null;
  readonly witnessed: readonly Violation[];
}

/** Nothing happened: the start of a hand-made history. */
export const emptyHistory: History = {
  threads: [],
  sightings: [],
  requests: [],
  callbacks: [],
  posts: [],
  notices: [],
  recordedRefusals: [],
  finalRefusals: null,
  prompts: [],
  snapshots: [],
  streams: [],
  slots: [],
  wipes: [],
  handedOver: null,
  held: new Set(),
  canaries: {},
  secrets: [],
  unrest: null,
  witnessed: [],
};
