// Classifies IP addresses: `never` callable, `private` (callable only by a rule), or `public` internet.
// Not here: names, rules, connections.
//
// Invariants:
//   A1. Metadata services and all link-local addresses are `never`, whatever an allow-list says, and so is every IPv6
//       form that contains such an IPv4 address.
//   A2. An address is `public` only when it is known to be; every other address needs a rule.
import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

export type AddressClass = 'public' | 'private' | 'never';

export interface JudgedAddress {
  readonly address: string;
  readonly family: 4 | 6;
  readonly is: AddressClass;
  /** The IPv4 address inside an IPv6 form that a router may unpack (NAT64, 6to4, Teredo, compatible, ISATAP). */
  readonly inner: JudgedAddress | null;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;
/** A CIDR block. */
export type AddressRange = readonly [Address, number];

const range = (text: string): AddressRange => ipaddr.parseCIDR(text);

/** Services that return a machine's own credentials, and ranges in which no HTTP server is of use to the runtime. */
const neverRanges: readonly AddressRange[] = [
  range('0.0.0.0/8'), // "this host": Linux connects to loopback
  range('169.254.0.0/16'), // link-local: metadata of AWS, GCP, Azure, Oracle, DigitalOcean, Tencent
  range('100.100.100.200/32'), // metadata of Alibaba Cloud
  range('168.63.129.16/32'), // Azure's wire server
  range('192.0.0.192/32'), // metadata of Oracle Cloud
  range('224.0.0.0/4'),
  range('255.255.255.255/32'),
  range('::/128'),
  range('fe80::/10'),
  range('fd00:ec2::/32'), // metadata of AWS over IPv6
  range('fd20:ce::/32'), // metadata of GCP over IPv6
  range('ff00::/8'),
];

const loopback: readonly AddressRange[] = [range('127.0.0.0/8'), range('::1/128')];

const globalUnicast = range('2000::/3');
const compatible = range('::/96');
const nat64 = range('64:ff9b::/96');
const nat64Local = range('64:ff9b:1::/48');
const sixToFour = range('2002::/16');
const teredo = range('2001::/32');

/** Judges a literal in its usual notation; null when the text is not an IP address, or contains a zone. */
export function judgeAddress(text: string): JudgedAddress | null {
  if (isIPv4(text)) return judge(ipaddr.IPv4.parse(text));
  // ipaddr.js reads `::1.2.3.4` as a mapped address, which it is not; the URL parser writes it in groups.
  if (!isIPv6(text) || !URL.canParse(`http://[${text}]`)) return null;
  return judge(ipaddr.IPv6.parse(new URL(`http://[${text}]`).hostname.slice(1, -1)));
}

/** True when the block covers the address; an IPv4 block never covers an IPv6 address, nor the reverse. */
export function contains([network, bits]: AddressRange, address: string): boolean {
  const parsed = ipaddr.parse(address);
  return inRange(parsed, [network, bits]);
}

/** True for an address of the machine itself, also inside a form that a router may unpack. */
export const isLoopback = ({ address, inner }: JudgedAddress): boolean =>
  loopback.some((block) => contains(block, address)) || (inner !== null && isLoopback(inner));

/** A CIDR block, or a single address; null when the text is neither. */
export function parseRange(text: string): AddressRange | null {
  const [, address = '', bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const judged = judgeAddress(address);
  if (judged === null) return null;
  const longest = judged.family === 4 ? 32 : 128;
  const length = bits === undefined ? longest : Number(bits);
  return length > longest ? null : [ipaddr.parse(judged.address), length];
}

function judge(parsed: Address): JudgedAddress {
  if (isV4(parsed)) {
    const is = isNever(parsed) ? 'never' : parsed.range() === 'unicast' ? 'public' : 'private';
    return { address: parsed.toString(), family: 4, is, inner: null };
  }
  // The socket layer treats ::ffff:a.b.c.d as a.b.c.d; so does this module.
  if (parsed.isIPv4MappedAddress()) return judge(parsed.toIPv4Address());
  const carried = embedded(parsed);
  const inner = carried === null ? null : judge(carried);
  const address = parsed.toNormalizedString();
  if (isNever(parsed) || inner?.is === 'never') return { address, family: 6, is: 'never', inner }; // (A1)
  const open = inner === null && parsed.range() === 'unicast' && inRange(parsed, globalUnicast);
  return { address, family: 6, is: open ? 'public' : 'private', inner }; // (A2)
}

function embedded(address: ipaddr.IPv6): ipaddr.IPv4 | null {
  const bytes = address.toByteArray();
  const at = (offset: number): ipaddr.IPv4 => new ipaddr.IPv4(bytes.slice(offset, offset + 4));
  if (inRange(address, compatible)) return address.toNormalizedString() === '0:0:0:0:0:0:0:1' ? null : at(12);
  if (inRange(address, nat64) || inRange(address, nat64Local)) return at(12);
  if (inRange(address, sixToFour)) return at(2);
  if (inRange(address, teredo)) return new ipaddr.IPv4(bytes.slice(12, 16).map((byte) => byte ^ 0xff));
  // ISATAP: the interface identifier is 0000:5efe or 0200:5efe, followed by the IPv4 address.
  if ((bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe) return at(12);
  return null;
}

const isV4 = (address: Address): address is ipaddr.IPv4 => address.kind() === 'ipv4';
const isNever = (address: Address): boolean => neverRanges.some((block) => inRange(address, block));

function inRange(address: Address, [network, bits]: AddressRange): boolean {
  return (
    address.kind() === network.kind() && address.match([network, bits] as [ipaddr.IPv4, number] & [ipaddr.IPv6, number])
  );
}
