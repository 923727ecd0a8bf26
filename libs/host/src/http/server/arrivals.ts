// Requests that are still arriving at a process: those whose head or body is not complete. The same for every server.
//
// Invariants:
//   A1. Head and body of a request arrive within `requestTimeoutMs`. An answer, a stream and the pause between two
//       requests are no part of that time.
//   A2. The unfinished bodies of a server hold at most `unfinishedBytesMax` together, and the rest of one more. While
//       there is no room for all, the newest are paused; a body that has been read for longer than `bodyPatienceMs` is
//       then dropped.
//   A3. A peer has at most `unfinishedPerPeerMax` requests that have been unfinished for longer than `patienceMs`; the
//       newest beyond that are ended. A connection that waits for its next request, or for an answer, has none.
import type { IncomingMessage, Server, ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';

export interface ArrivalLimits {
  readonly requestTimeoutMs: number;
  readonly unfinishedBytesMax: number;
  /** Null where the peer is a proxy, which stands for all clients behind it. */
  readonly unfinishedPerPeerMax: number | null;
}

export const standardArrivalLimits: ArrivalLimits = {
  requestTimeoutMs: 60_000,
  unfinishedBytesMax: 64 * 1_024 * 1_024,
  unfinishedPerPeerMax: 256,
};

const patienceMs = 1_000;
const bodyPatienceMs = 5_000;
const lookEveryMs = 250;
const overdueLookMsMax = 1_000;

/** Options for a server of `node:http`. (A1) */
export const arrivalOptions = ({ requestTimeoutMs }: ArrivalLimits): ServerOptions => ({
  requestTimeout: requestTimeoutMs,
  headersTimeout: requestTimeoutMs,
  connectionsCheckingInterval: Math.max(50, Math.min(overdueLookMsMax, requestTimeoutMs / 4)),
});

/** The room that unfinished bodies share. (A2) */
export interface BodyRoom {
  enter(reading: Reading): BodyHold;
}

/** A body that is being read, as seen by the room. */
export interface Reading {
  pause(): void;
  resume(): void;
  /** Called at most once: the body is dropped, nothing of it is held or read any more. */
  giveWay(): void;
}

export interface BodyHold {
  add(bytes: number): void;
  /** The body is complete, or dropped. */
  leave(): void;
}

interface Held {
  readonly reading: Reading;
  bytes: number;
  /** Since when it is being read; null while it is paused. */
  since: number | null;
}

/** The memory that a chunk takes at least, even one of a single byte. */
const bytesOfChunk = 512;

export function createBodyRoom(bytesMax: number, now: () => number = () => performance.now()): BodyRoom {
  /** In order of arrival. */
  const bodies = new Set<Held>();
  let bytesHeld = 0;
  let looking: NodeJS.Timeout | null = null;

  const isAnotherRead = (body: Held): boolean =>
    [...bodies].some((other) => other !== body && other.since !== null && other.bytes > 0);

  function drop(body: Held): void {
    if (bodies.delete(body)) bytesHeld -= body.bytes;
  }

  /** Drops bodies that take too long while there is no room. */
  function makeRoom(): void {
    for (const body of bodies) {
      if (bytesHeld <= bytesMax) break;
      if (body.since === null || now() - body.since <= bodyPatienceMs) continue;
      drop(body);
      body.reading.giveWay();
    }
  }

  /** The newest first: earlier ones had their chance. One is always read, otherwise no body would ever complete. */
  function goOn(): void {
    const paused = [...bodies].filter(({ since }) => since === null);
    for (const body of paused.toReversed()) {
      if (bytesHeld > bytesMax && isAnotherRead(body)) return;
      body.since = now();
      body.reading.resume();
    }
    if (looking !== null) clearInterval(looking);
    looking = null;
  }

  function pause(body: Held): void {
    body.since = null;
    body.reading.pause();
    looking ??= setInterval(look, lookEveryMs).unref();
  }

  function look(): void {
    makeRoom();
    goOn();
  }

  return {
    enter(reading) {
      const body: Held = { reading, bytes: 0, since: now() };
      bodies.add(body);
      return {
        add(bytes) {
          if (!bodies.has(body)) return;
          body.bytes += bytes + bytesOfChunk;
          bytesHeld += bytes + bytesOfChunk;
          if (bytesHeld <= bytesMax) return;
          makeRoom();
          if (bytesHeld > bytesMax && bodies.has(body) && isAnotherRead(body)) pause(body);
        },
        leave() {
          drop(body);
          if (looking !== null) goOn();
        },
      };
    },
  };
}

/** Since when a connection's request is unfinished, its last request, and the bytes read when that one was complete. */
interface Connection {
  since: number | null;
  request: IncomingMessage | null;
  bytesBefore: number;
}

/** `end` is called with each connection beyond a peer's bound. (A3) */
export function boundPeers(server: Server, unfinishedMax: number | null, end: (socket: Socket) => void): void {
  if (unfinishedMax === null) return;
  const connections = new Map<Socket, Connection>();
  let looking: NodeJS.Timeout | null = null;
  /** There is no timer while all connections together are within the bound. */
  const lookOnlyAtMany = (): void => {
    if (connections.size > unfinishedMax) {
      looking ??= setInterval(look, lookEveryMs).unref();
    } else if (looking !== null) {
      clearInterval(looking);
      looking = null;
    }
  };
  server.on('connection', (socket: Socket) => {
    connections.set(socket, { since: null, request: null, bytesBefore: 0 });
    socket.once('close', () => {
      connections.delete(socket);
      lookOnlyAtMany();
    });
    lookOnlyAtMany();
  });
  server.on('request', (request) => {
    const connection = connections.get(request.socket);
    if (connection === undefined) return;
    if (connection.request !== null) connection.since = null; // that request was complete
    connection.request = request;
  });
  const look = (): void => {
    for (const socket of beyond(connections, unfinishedMax)) end(socket);
  };
}

/** The newest unfinished requests beyond the bound of their peer. */
function beyond(connections: ReadonlyMap<Socket, Connection>, unfinishedMax: number): readonly Socket[] {
  const now = performance.now();
  const byPeer = new Map<string, { readonly socket: Socket; readonly since: number }[]>();
  for (const [socket, connection] of connections) {
    const since = unfinishedSince(socket, connection, now);
    if (since === null || now - since <= patienceMs) continue;
    const peer = socket.remoteAddress ?? '';
    const others = byPeer.get(peer) ?? [];
    others.push({ socket, since });
    byPeer.set(peer, others);
  }
  return [...byPeer.values()].flatMap((all) => {
    all.sort((one, other) => one.since - other.since);
    return all.slice(unfinishedMax).map(({ socket }) => socket);
  });
}

/** Null while no request is incomplete; a request counts as incomplete from the first byte of its head on. */
function unfinishedSince(socket: Socket, connection: Connection, now: number): number | null {
  if (connection.request?.complete === true) {
    connection.request = null;
    connection.since = null;
    connection.bytesBefore = socket.bytesRead;
  }
  const isMissing = connection.request !== null || socket.bytesRead > connection.bytesBefore;
  connection.since = isMissing ? (connection.since ?? now) : null;
  return connection.since;
}
