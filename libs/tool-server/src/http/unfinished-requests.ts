/**
 * Owns: how many requests one peer may leave unfinished.
 * Not here: the memory of their bodies (`request-body.ts`), and the time after which each is closed (`serve.ts`).
 *
 * M1. A request counts while its head or its body has been unfinished for more than a second. Connections that wait for
 *     their next request, and requests that wait for their answer, do not count.
 * M2. A peer has at most `perPeerMax` of them; the youngest of more are closed, once a second.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const unfinishedMsMin = 1_000;
const sweepEveryMs = 1_000;
const refusal = 'HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';

interface Connection {
  readonly socket: Socket;
  readonly peer: string;
  /** Since when it waits for the rest of a request. */
  since: number;
  /** Bytes read from the socket when its last request was done: more belongs to the head of the next one. */
  mark: number;
  request: IncomingMessage | null;
  response: ServerResponse | null;
}

/** Watches all connections of a server. There is no timer while all of them together are within a peer's bound. */
export function boundUnfinishedRequests(http: Server, perPeerMax: number): void {
  const connections = new Map<Socket, Connection>();
  let timer: NodeJS.Timeout | null = null;
  const sweepOnlyMany = (): void => {
    if (connections.size > perPeerMax) {
      timer ??= setInterval(sweep, sweepEveryMs).unref();
    } else if (timer !== null) {
      clearInterval(timer);
      timer = null;
    }
  };
  http.on('connection', (socket: Socket) => {
    const peer = socket.remoteAddress ?? '';
    connections.set(socket, { socket, peer, since: performance.now(), mark: 0, request: null, response: null });
    socket.once('close', () => {
      connections.delete(socket);
      sweepOnlyMany();
    });
    sweepOnlyMany();
  });
  http.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = connections.get(request.socket);
    if (connection === undefined) return;
    Object.assign(connection, { since: performance.now(), request, response });
    response.once('close', () => {
      if (connection.response === response && request.complete) rest(connection);
    });
  });
  const sweep = (): void => {
    const unfinished = [...connections.values()].filter((each) => isUnfinished(each));
    for (const ofPeer of byPeer(unfinished))
      for (const { socket, response } of ofPeer.toSorted((a, b) => a.since - b.since).slice(perPeerMax)) {
        if (response?.headersSent !== true) socket.end(refusal); // (M2)
        socket.destroySoon();
      }
  };
}

function rest(connection: Connection): void {
  Object.assign(connection, {
    since: performance.now(),
    mark: connection.socket.bytesRead,
    request: null,
    response: null,
  });
}

function byPeer(connections: readonly Connection[]): Iterable<readonly Connection[]> {
  const peers = new Map<string, Connection[]>();
  for (const each of connections) {
    const known = peers.get(each.peer);
    if (known === undefined) peers.set(each.peer, [each]);
    else known.push(each);
  }
  return peers.values();
}

/** (M1) */
function isUnfinished(connection: Connection): boolean {
  const { socket, since, mark, request, response } = connection;
  if (request?.complete === true && response?.writableFinished === true) rest(connection); // its body came after its answer
  if (request?.complete === true) return false;
  return performance.now() - since > unfinishedMsMin && (request !== null || socket.bytesRead > mark);
}
