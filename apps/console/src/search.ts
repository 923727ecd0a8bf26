// What the addresses of screens carry behind their path, parsed: what is not understood is left out.

type Given = Readonly<Record<string, unknown>>;

const statuses = ['opening', 'parked', 'closed', 'thinking', 'waiting', 'idle'] as const;
const tabs = ['events', 'turns', 'calls', 'views', 'children', 'about'] as const;

export type ThreadsSearch = ReturnType<typeof threadsSearch>;
export type ThreadSearch = ReturnType<typeof threadSearch>;

export const threadsSearch = (given: Given) =>
  search({
    status: oneOf(given['status'], ...statuses),
    agent: text(given['agent']),
    user: text(given['user']),
    external: text(given['external']),
    parent: text(given['parent']),
    /** `key=value` */
    label: text(given['label']),
    /** A day. */
    since: text(given['since']),
    /** The dialog for a new thread is open. */
    new: given['new'] === true ? (true as const) : undefined,
  });

export const threadSearch = (given: Given) =>
  search({
    /** The selected event. */
    p: whole(given['p']),
    /** The position that the thread is shown as of. */
    at: whole(given['at']),
    tab: oneOf(given['tab'], ...tabs),
    /** The thread that stands beside it. */
    beside: text(given['beside']),
  });

export const inboxSearch = (given: Given) =>
  search({ kind: oneOf(given['kind'], 'approval', 'tool', 'oauth'), agent: text(given['agent']) });

/** `against`: the version that it is compared with. */
export const agentSearch = (given: Given) =>
  search({ version: whole(given['version']), against: whole(given['against']) });

export const toolServerSearch = (given: Given) => search({ tool: text(given['tool']) });

export const parkedSearch = (given: Given) => search({ thread: text(given['thread']) });

/** The API answers for so many at once. */
const usageDaysMax = 400;

export function usageSearch(given: Given) {
  const days = whole(given['days']) ?? 0;
  return search({ days: days >= 1 && days <= usageDaysMax ? days : undefined });
}

/** A link names only the parameters that it means. */
const search = <Search>(found: Search): Readonly<Partial<Search>> => found;

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
