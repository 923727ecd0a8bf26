// The installation's allow-list: which plain-http and private destinations may be called. DORMOUSE_OUTBOUND_ALLOW holds
// comma-separated entries `[http://](host-suffix | CIDR | address)[:port]`; IPv6 with a port is written in brackets.
// A tenant may have entries of its own, which extend the list for its requests alone.
// Not here: addresses that are never allowed (ip-address.ts).
//
// Invariants:
//   O1. A host suffix ends at a label: `corp.example` covers itself and `a.corp.example`, never `evilcorp.example`.
//   O2. An entry without `http://` allows https only; an entry with a port allows that port only.
//   O3. A tenant's own entry opens no address of the machine itself, and none that is never allowed: only an entry of
//       the installation opens loopback.
import { contains, isLoopback, judgeAddress, parseRange, type AddressRange, type JudgedAddress } from './ip-address.ts';

export interface OutboundRule {
  readonly text: string;
  /** Lower case, without a leading dot; null for a rule about addresses. */
  readonly hostSuffix: string | null;
  readonly range: AddressRange | null;
  readonly port: number | null;
  readonly plainHttp: boolean;
}

export interface OutboundAllow {
  readonly rules: readonly OutboundRule[];
  /** One sentence for each entry that cannot be read. */
  readonly problems: readonly string[];
}

export interface Destination {
  readonly scheme: 'http:' | 'https:';
  /** As in the URL: a name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
}

/** Reads the variable; an empty text allows only https to public addresses. */
export function parseOutboundAllow(text: string): OutboundAllow {
  const rules: OutboundRule[] = [];
  const problems: string[] = [];
  for (const entry of text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')) {
    const rule = parseRule(entry);
    if (rule === null) problems.push(`"${entry}" is not [http://](host-suffix | CIDR)[:port]`);
    else rules.push(rule);
  }
  return { rules, problems };
}

/** Entries of one tenant. Equal keys have equal rules. */
export interface TenantOutbound {
  readonly key: string;
  readonly rules: readonly OutboundRule[];
}

/** Of a tenant that has no entries of its own. */
export const noTenantOutbound: TenantOutbound = { key: '', rules: [] };

/** The shortest prefixes that an entry of a tenant may have. */
const tenantBitsMin = { ipv4: 8, ipv6: 16 };

/** Why this text is no entry of a tenant; null when it is one. (O3) */
export function tenantEntryProblem(text: string): string | null {
  const { rules, problems } = parseOutboundAllow(text);
  const [rule] = rules;
  if (text.includes(',') || rule === undefined || problems.length > 0)
    return 'must be [http://](host-suffix | CIDR)[:port]';
  const { range, hostSuffix } = rule;
  if (range === null)
    return hostSuffix === 'localhost' || hostSuffix?.endsWith('.localhost') ? 'must not name this machine' : null;
  const [network, bits] = range;
  const judged = judgeAddress(network.toString());
  if (judged === null || judged.is === 'never') return 'must not name an address that is never called';
  if (isLoopback(judged)) return 'must not name this machine';
  const least = tenantBitsMin[network.kind()];
  return bits < least ? `must have a prefix of at least ${least} bits` : null;
}

/** Whether the client may connect to this address of the destination, for a tenant with `own` entries. */
export function isAllowed(
  rules: readonly OutboundRule[],
  to: Destination,
  address: JudgedAddress,
  own: readonly OutboundRule[] = [],
): boolean {
  if (isAllowedBy(rules, to, address)) return true;
  return own.length > 0 && !isLoopback(address) && isAllowedBy([...rules, ...own], to, address); // (O3)
}

function isAllowedBy(rules: readonly OutboundRule[], to: Destination, address: JudgedAddress): boolean {
  if (address.is === 'never') return false;
  if (address.is === 'public' && to.scheme === 'https:') return true;
  const rule = rules.find((candidate) => matches(candidate, to, address));
  if (rule === undefined) return false;
  // A form that a router unpacks needs a rule of its own, and the inner address is judged as well.
  return (
    address.inner === null ||
    (rule.range !== null && (address.inner.is === 'public' || rules.some((other) => matches(other, to, address.inner))))
  );
}

/** Whether a rule lets this host be called over plain http by its name, wherever that is. */
export function namesPlainHost(rules: readonly OutboundRule[], url: URL): boolean {
  const port = url.port === '' ? 80 : Number(url.port);
  const host = url.hostname.replace(/\.$/, '');
  return rules.some(
    ({ hostSuffix, plainHttp, port: only }) =>
      plainHttp && hostSuffix !== null && (only ?? port) === port && endsWithName(host, hostSuffix),
  );
}

/** (O1) */
const endsWithName = (host: string, suffix: string): boolean => host === suffix || host.endsWith(`.${suffix}`);

function matches(rule: OutboundRule, to: Destination, address: JudgedAddress | null): boolean {
  if (address === null || (rule.port !== null && rule.port !== to.port)) return false; // (O2)
  if (to.scheme === 'http:' && !rule.plainHttp) return false;
  if (rule.range !== null) return contains(rule.range, address.address);
  const host = to.host.toLowerCase().replace(/\.$/, '');
  return rule.hostSuffix !== null && endsWithName(host, rule.hostSuffix);
}

function parseRule(entry: string): OutboundRule | null {
  const [, scheme = '', rest = ''] = /^(https?:\/\/)?(.*)$/i.exec(entry) ?? [];
  const [, bracketed, plain = '', portText] =
    /^(?:\[([^\]]+)\]|(.+?))(?::(\d{1,5}))?$/.exec(isBareIpv6(rest) ? `[${rest}]` : rest) ?? [];
  const port = portText === undefined ? null : Number(portText);
  if (port !== null && (port < 1 || port > 65_535)) return null;
  const about = { text: entry, port, plainHttp: scheme.toLowerCase() === 'http://' };
  const range = parseRange(bracketed ?? plain);
  if (range !== null) return { ...about, hostSuffix: null, range };
  const hostSuffix = plain.toLowerCase().replace(/^\*?\./, '');
  return bracketed === undefined &&
    /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/.test(hostSuffix) &&
    !/^[\d.]+$/.test(hostSuffix)
    ? { ...about, hostSuffix, range: null }
    : null;
}

const isBareIpv6 = (text: string): boolean =>
  !text.startsWith('[') && text.split(':').length > 2 && parseRange(text) !== null;
