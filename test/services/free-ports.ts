// Ports for servers of tests.
//
// Invariants:
//   P1. They are below those that the system gives to outgoing connections: between this check and the server's start
//       thousands of connections are made on a busy machine, and one of them would take the port sooner or later.
//   P2. A port that was given is given to no other process of ours while the process that asked for it runs, whether a
//       server listens on it or not: a server starts seconds after its port was chosen, one that is restarted wants the
//       same again, and several workers, launchers and checkouts choose at the same time.
//
// Port 0, where the server tells which port it got, is better where only the client of that one server has to know. It
// is not enough here: brokers announce their port, services are given the address of others before any of them runs,
// and what was killed starts again on the same port. A range for each worker is not enough either: workers of several
// runs on one machine have the same numbers.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';

/** Ports of ours: from the first on stretches, from the second on single ones. */
interface PortRanges {
  readonly stretches: number;
  readonly singles: number;
  /** The first that is not ours. */
  readonly end: number;
}

const lowest = 10_000;
const end = 32_000;
/** Of all, those for stretches. */
const shareOfStretches = 12 / 22;
const portsMin = 2_000;
const triesMax = 200;
const ranges = rangesBelow(lowestOfOutgoing());
/** What holds the ports of this process, which ends with it. (P2) */
const holds = new Map<number, Server | null>();

/** (P1) The usual ones where a machine gives away so many that no room is left below. */
export function rangesBelow(outgoing: number): PortRanges {
  const last = outgoing < lowest + portsMin ? end : Math.min(end, outgoing);
  return { stretches: lowest, singles: lowest + Math.floor((last - lowest) * shareOfStretches), end: last };
}

/** Linux gives from 32768 on unless it is told otherwise, others from 49152. */
function lowestOfOutgoing(): number {
  if (process.platform !== 'linux') return 49_152;
  return Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').trim().split(/\s+/)[0]);
}

export async function freePort(): Promise<number> {
  const [port] = await freeAmong(1, ranges.singles, ranges.end);
  return port;
}

/** The first of so many ports in a row, all of them free, below those that single servers get. */
export async function freeStretch(length: number): Promise<number> {
  const [first] = await freeAmong(length, ranges.stretches, ranges.singles);
  return first;
}

/** All different. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort());
  return ports;
}

/** Those on which no other server could listen now. */
export async function takenPorts(ports: readonly number[]): Promise<readonly number[]> {
  const free = await Promise.all(ports.map(isFree));
  return ports.filter((_, nth) => free[nth] === false);
}

async function freeAmong(length: number, from: number, until: number): Promise<readonly [number, ...number[]]> {
  for (let tries = 0; tries < triesMax; tries++) {
    const first = randomInt(from, until - length + 1);
    const others = Array.from({ length: length - 1 }, (_, nth) => first + nth + 1);
    if (await areOurs([first, ...others])) return [first, ...others];
  }
  throw new Error(`no ${length === 1 ? 'free port' : `${length} free ports in a row`} from ${from} to ${until}`);
}

/** They are held before they are looked at, so that no other process of ours can choose them in between. (P2) */
async function areOurs(ports: readonly number[]): Promise<boolean> {
  const held: number[] = [];
  for (const port of ports) {
    if (!(await hold(port))) break;
    held.push(port);
  }
  if (held.length === ports.length && (await takenPorts(ports)).length === 0) return true;
  for (const port of held) release(port);
  return false;
}

/**
 * (P2) By the name of a socket that Linux keeps outside of the file system: it is given to one process only, of the
 * network that the port is in, and free again when that process has ended, however that was. Other systems have no
 * such names: there a port is held in this process alone.
 */
async function hold(port: number): Promise<boolean> {
  if (holds.has(port)) return false;
  holds.set(port, null); // before the first wait: another caller in this process
  if (process.platform !== 'linux') return true;
  const server = await listening({ path: `\0dormouse-test-port-${port}` });
  if (server === null) holds.delete(port);
  else holds.set(port, server.unref());
  return server !== null;
}

function release(port: number): void {
  holds.get(port)?.close();
  holds.delete(port);
}

async function isFree(port: number): Promise<boolean> {
  const server = await listening({ port, host: '127.0.0.1' });
  server?.close();
  return server !== null;
}

/** Null where another server listens. */
async function listening(at: { readonly path: string } | { readonly port: number; readonly host: string }) {
  const server = createServer();
  try {
    server.listen(at);
    await once(server, 'listening');
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return null;
    throw error;
  }
}
