// What DORMOUSE_REDIS_URL says: one server, Sentinels that know which server is the master, or nodes of a Redis
// Cluster.
//
//   redis://[[user]:password@]host[:6379][/db]
//   redis+sentinel://[[user]:password@]host[:26379],host…/MASTER[?db=0&sentinelUser=…&sentinelPassword=…]
//   redis+cluster://[[user]:password@]host[:6379],host…
//
// With `rediss` in the place of `redis`, every connection is encrypted, those to Sentinels included.
//
// Invariants:
//   A1. A sentence about a URL never repeats a part of it: it may contain a password.
export interface RedisNode {
  readonly host: string;
  readonly port: number;
}

interface Login {
  readonly username: string | undefined;
  readonly password: string | undefined;
}

export type RedisAddress =
  | { readonly kind: 'server'; readonly url: string; readonly isEncrypted: boolean }
  | {
      readonly kind: 'sentinels';
      readonly nodes: readonly RedisNode[];
      /** The name that the Sentinels have for the master and its replicas. */
      readonly master: string;
      readonly db: number;
      /** At the master. */
      readonly login: Login;
      readonly sentinelLogin: Login;
      readonly isEncrypted: boolean;
    }
  | {
      readonly kind: 'cluster';
      /** Some of them: they name the others. */
      readonly nodes: readonly RedisNode[];
      readonly login: Login;
      readonly isEncrypted: boolean;
    };

const form = /^redis(?<s>s?)(?:\+(?<kind>sentinel|cluster))?:\/\/(?:(?<login>[^@/?]*)@)?(?<rest>.*)$/;
const places = /^(?<nodes>[^/?]*)(?:\/(?<path>[^?]*))?(?:\?(?<query>.*))?$/;
const nodeForm = /^(?<host>\[[0-9a-f:]+\]|[^\s,:/[\]]+)(?::(?<port>\d{1,5}))?$/i;
const standardPort = { sentinel: 26_379, cluster: 6_379 } as const;
const sentinelQuery = new Set(['db', 'sentinelUser', 'sentinelPassword']);
const forms =
  'must be a redis:// or rediss:// URL, or redis+sentinel:// or redis+cluster:// with host:port after commas';
const unreadable = 'cannot be read: look for a user or password that is not percent-encoded';

/** Null, or what is wrong with it. (A1) */
export function redisUrlProblem(url: string): string | null {
  const read = readAddress(url);
  return typeof read === 'string' ? read : null;
}

/** @throws RangeError for a URL with a problem. */
export function redisAddress(url: string): RedisAddress {
  const read = readAddress(url);
  if (typeof read === 'string') throw new RangeError(read);
  return read;
}

function readAddress(url: string): RedisAddress | string {
  const { s, kind, login = '', rest = '' } = form.exec(url)?.groups ?? {};
  if (s === undefined || rest === '' || rest.startsWith('/')) return forms;
  const isEncrypted = s === 's';
  if (kind !== 'sentinel' && kind !== 'cluster')
    return isReadable(url) ? { kind: 'server', url, isEncrypted } : unreadable;
  if (/^[^?]*[@#]/.test(rest)) return unreadable;
  const { nodes: listed = '', path = '', query = '' } = places.exec(rest)?.groups ?? {};
  const nodes = listed.split(',').map((text) => nodeOf(text, standardPort[kind]));
  if (!areNodes(nodes)) return forms;
  const parameters = new URLSearchParams(query);
  return kind === 'sentinel'
    ? sentinels({ nodes, login: loginOf(login), isEncrypted }, path, parameters)
    : clustered({ nodes, login: loginOf(login), isEncrypted }, path, parameters);
}

/** As the client of Redis reads it: the path is the number of a database, and what is decoded can be. */
function isReadable(url: string): boolean {
  try {
    const { hostname, pathname, hash, username, password } = new URL(url);
    decodeURIComponent(username + password);
    return hostname !== '' && hash === '' && /^\/?\d*$/.test(pathname);
  } catch {
    return false;
  }
}

type Common = Pick<RedisAddress & { readonly kind: 'cluster' }, 'nodes' | 'login' | 'isEncrypted'>;

function sentinels(common: Common, path: string, query: URLSearchParams): RedisAddress | string {
  const master = decoded(path);
  const db = Number(query.get('db') ?? '0');
  if (master === '')
    return 'must name the master that the Sentinels watch, as its path: redis+sentinel://host:26379/MASTER';
  if ([...query.keys()].some((name) => !sentinelQuery.has(name)) || !Number.isInteger(db) || db < 0)
    return `may have these after the question mark: ${[...sentinelQuery].join(', ')}; db is a number`;
  const sentinelLogin = {
    username: query.get('sentinelUser') ?? undefined,
    password: query.get('sentinelPassword') ?? undefined,
  };
  return { ...common, kind: 'sentinels', master, db, sentinelLogin };
}

function clustered(common: Common, path: string, query: URLSearchParams): RedisAddress | string {
  if (path !== '' || query.size > 0)
    return 'ends with the last node for redis+cluster://: a Redis Cluster has one database';
  return { ...common, kind: 'cluster' };
}

function nodeOf(text: string, standard: number): RedisNode | null {
  const { host, port } = nodeForm.exec(text.trim())?.groups ?? {};
  const at = Number(port ?? standard);
  return host === undefined || at > 65_535 ? null : { host: host.replace(/^\[|\]$/g, ''), port: at };
}

const areNodes = (nodes: readonly (RedisNode | null)[]): nodes is readonly RedisNode[] => !nodes.includes(null);

/** `user:password`, `:password` or nothing, each percent-encoded. */
function loginOf(text: string): Login {
  const colon = text.indexOf(':');
  const [user, password] = colon < 0 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)];
  return { username: decoded(user) || undefined, password: decoded(password) || undefined };
}

/** A text that is not percent-encoded in order is taken as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
