// The guard of every outbound request: tool servers, manifests, model providers. Judges a URL and returns the addresses
// that may be connected to; the connection uses exactly these (origin-pools.ts).
//
// Invariants:
//   G1. A name is resolved once, and EVERY address it has must be allowed: one forbidden address refuses the name.
//   G2. A literal in the URL is judged like a resolved address, in every notation that a URL parser accepts.
//   G3. The reason never contains what a name resolved to: it may be shown to a tenant.
//   G4. A name that cannot be resolved is a failure that is worth a retry, not a verdict.
//   G5. The names of metadata services are never called, whatever they resolve to.
// By hand: packages such as request-filtering-agent are agents of `node:http`; the pools here are undici's.
import { lookup } from 'node:dns/promises';
import { judgeAddress, type JudgedAddress } from './ip-address.ts';
import { isAllowed, type Destination, type OutboundRule } from './outbound-allow.ts';

export interface PinnedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

export type GuardVerdict =
  | {
      readonly ok: true;
      readonly addresses: readonly PinnedAddress[];
      /** Nothing to resolve: the verdict holds for ever. */ readonly literal: boolean;
    }
  | { readonly ok: false; readonly code: 'OUTBOUND_FORBIDDEN' | 'NAME_NOT_RESOLVED'; readonly detail: string };

/** Resolves a name to all its addresses, as texts. Rejects when it has none. */
export type Resolver = (host: string) => Promise<readonly string[]>;

export interface OutboundGuard {
  /** `own`: what the tenant may call beside that. */
  check(url: URL, own?: readonly OutboundRule[]): Promise<GuardVerdict>;
}

export interface GuardOptions {
  readonly rules: readonly OutboundRule[];
  readonly resolver?: Resolver | undefined;
  /** Default 5 000. */
  readonly resolveTimeoutMs?: number;
}

const urlCharactersMax = 8_192;

/** Ports that no web client calls: servers of other protocols there may obey an HTTP request. Fetch §2.9, and 0. */
// prettier-ignore
const blockedPorts = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119,
  123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990,
  993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/** Of services that give a machine its own credentials. (G5) */
const metadataNames = new Set([
  ...['metadata', 'metadata.google.internal', 'metadata.goog', 'instance-data', 'instance-data.ec2.internal'],
  ...['metadata.azure.com', 'metadata.azure.internal', 'metadata.packet.net', 'metadata.platformequinix.com'],
  ...['metadata.tencentyun.com', 'metadata.oraclecloud.com', 'metadata.service.consul'],
]);

/** The URL when its form may be called at all, else the reason. No name is resolved here. */
export function readUrl(text: string): URL | string {
  if (text.length > urlCharactersMax) return `the URL is longer than ${urlCharactersMax} characters`;
  if (/[\s\p{Cc}\\]/u.test(text)) return 'the URL has white space, control characters or backslashes';
  if (!URL.canParse(text)) return 'the URL cannot be read';
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'only http and https URLs are called';
  if (url.username !== '' || url.password !== '') return 'a URL with a user name or password is not called';
  if (blockedPorts.has(destinationOf(url).port)) return 'this port is not called';
  if (metadataNames.has(url.hostname.replace(/\.$/, ''))) return 'metadata services are not called'; // (G5)
  return url;
}

export function createOutboundGuard({
  rules,
  resolver = systemResolver,
  resolveTimeoutMs = 5_000,
}: GuardOptions): OutboundGuard {
  return {
    async check(url, own = []) {
      const to = destinationOf(url);
      const literal = judgeAddress(to.host);
      if (literal !== null) return judgeAll({ rules, own }, to, [literal], true); // (G2)
      if (url.hostname.startsWith('[')) return forbidden(to.scheme);
      const resolved = await resolve(resolver, to.host, resolveTimeoutMs);
      if (typeof resolved === 'string') return { ok: false, code: 'NAME_NOT_RESOLVED', detail: resolved }; // (G4)
      return judgeAll({ rules, own }, to, resolved.map(judgeAddress), false);
    },
  };
}

function judgeAll(
  { rules, own }: { readonly rules: readonly OutboundRule[]; readonly own: readonly OutboundRule[] },
  to: Destination,
  judged: readonly (JudgedAddress | null)[],
  literal: boolean,
): GuardVerdict {
  const addresses: PinnedAddress[] = [];
  for (const one of judged) {
    if (one === null || !isAllowed(rules, to, one, own)) return forbidden(to.scheme); // (G1)
    addresses.push({ address: one.address, family: one.family });
  }
  return { ok: true, addresses, literal };
}

function forbidden(scheme: string): GuardVerdict {
  const what = scheme === 'http:' ? 'this address may not be called over plain http' : 'this address may not be called';
  const exceptions = 'DORMOUSE_OUTBOUND_ALLOW and the tenant’s outbound_allow list the exceptions';
  return { ok: false, code: 'OUTBOUND_FORBIDDEN', detail: `${what}; ${exceptions}` }; // (G3)
}

async function resolve(resolver: Resolver, host: string, withinMs: number): Promise<readonly string[] | string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((done) => {
    timer = setTimeout(done, withinMs, 'the name was not resolved in time');
  });
  try {
    const addresses = await Promise.race([resolver(host), late]);
    return addresses.length === 0 ? 'the name has no address' : addresses;
  } catch (error) {
    return `the name could not be resolved (${errorCode(error)})`;
  } finally {
    clearTimeout(timer);
  }
}

const systemResolver: Resolver = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);

function destinationOf(url: URL): Destination {
  const scheme = url.protocol === 'https:' ? 'https:' : 'http:';
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  return { scheme, host, port: url.port === '' ? (scheme === 'https:' ? 443 : 80) : Number(url.port) };
}

/** The code of a system or undici error, else its name. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return 'UNKNOWN';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
