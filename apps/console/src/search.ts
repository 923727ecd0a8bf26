// What the addresses of screens carry behind their path, parsed: what is not understood is left out.

type Given = Readonly<Record<string, unknown>>;

export interface ThreadsSearch {
  readonly status?: (typeof statuses)[number] | undefined;
  readonly agent?: string | undefined;
  readonly user?: string | undefined;
  readonly external?: string | undefined;
  readonly parent?: string | undefined;
  /** `key=value` */
  readonly label?: string | undefined;
  /** A day. */
  readonly since?: string | undefined;
  /** The dialog for a new thread is open. */
  readonly new?: true | undefined;
}

export interface ThreadSearch {
  /** The selected event. */
  readonly p?: number | undefined;
  /** The position that the thread is shown as of. */
  readonly at?: number | undefined;
  readonly tab?: (typeof tabs)[number] | undefined;
  /** The thread that stands beside it. */
  readonly beside?: string | undefined;
}

export interface InboxSearch {
  readonly kind?: 'approval' | 'tool' | 'oauth' | undefined;
  readonly agent?: string | undefined;
}

export interface AgentSearch {
  readonly version?: number | undefined;
  /** The version that it is compared with. */
  readonly against?: number | undefined;
}

const statuses = ['opening', 'parked', 'closed', 'thinking', 'waiting', 'idle'] as const;
const tabs = ['events', 'turns', 'calls', 'views', 'children', 'about'] as const;

export const threadsSearch = (given: Given): ThreadsSearch => ({
  status: oneOf(given['status'], ...statuses),
  agent: text(given['agent']),
  user: text(given['user']),
  external: text(given['external']),
  parent: text(given['parent']),
  label: text(given['label']),
  since: text(given['since']),
  new: given['new'] === true ? true : undefined,
});

export const threadSearch = (given: Given): ThreadSearch => ({
  p: whole(given['p']),
  at: whole(given['at']),
  tab: oneOf(given['tab'], ...tabs),
  beside: text(given['beside']),
});

export const inboxSearch = (given: Given): InboxSearch => ({
  kind: oneOf(given['kind'], 'approval', 'tool', 'oauth'),
  agent: text(given['agent']),
});

export const agentSearch = (given: Given): AgentSearch => ({
  version: whole(given['version']),
  against: whole(given['against']),
});

export const toolServerSearch = (given: Given): { readonly tool?: string | undefined } => ({
  tool: text(given['tool']),
});

export const parkedSearch = (given: Given): { readonly thread?: string | undefined } => ({
  thread: text(given['thread']),
});

/** The API answers for so many at once. */
const usageDaysMax = 400;

export function usageSearch(given: Given): { readonly days?: number | undefined } {
  const days = whole(given['days']) ?? 0;
  return { days: days >= 1 && days <= usageDaysMax ? days : undefined };
}

/** The router reads `7` as a number. */
const text = (value: unknown): string | undefined =>
  typeof value === 'number' ? String(value) : typeof value === 'string' && value !== '' ? value : undefined;

function whole(value: unknown): number | undefined {
  const number =
    typeof value === 'number' ? value : typeof value === 'string' && value !== '' ? Number(value) : Number.NaN;
  return Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

const oneOf = <const Word extends string>(value: unknown, ...words: readonly Word[]): Word | undefined =>
  words.find((word) => word === value);
