// Servers on loopback for outbound tests: one that only counts connections, and one that answers as scripted.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import type { ToolServer } from '@dormouse/ports';
import { toolServerOf } from '@dormouse/testing';

export interface Listener {
  readonly port: number;
  readonly connections: () => number;
  close(): Promise<void>;
}

/** Counts connections: any one is a failure of the guard. */
export async function canary(host = '127.0.0.1', port = 0): Promise<Listener> {
  return listen(
    createTcpServer((socket) => socket.destroy()),
    host,
    port,
  );
}

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Distinguishes connections. */
  readonly socket: Socket;
}

export interface HttpListener extends Listener {
  readonly received: Received[];
  readonly url: string;
}

export async function httpServer(
  answer: (request: Received, response: ServerResponse) => void,
  host = '127.0.0.1',
  port = 0,
): Promise<HttpListener> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void read(request).then((one) => {
      received.push(one);
      answer(one, response);
    });
  });
  const listener = await listen(server, host, port);
  return { ...listener, received, url: `http://${host}:${listener.port}` };
}

/** Speaks raw bytes once the first bytes have come in. */
export async function rawServer(answer: (socket: Socket) => void): Promise<Listener & { readonly url: string }> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => answer(socket));
  });
  const listener = await listen(server, '127.0.0.1', 0);
  return { ...listener, url: `http://127.0.0.1:${listener.port}` };
}

async function read(request: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  const { method = '', url = '', headers, socket } = request;
  return { method, path: url, headers, body: Buffer.concat(chunks), socket };
}

async function listen(server: Server, host: string, port: number): Promise<Listener> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a port');
  return {
    port: address.port,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

export const toolServer = (baseUrl: string, fields: Partial<ToolServer> = {}): ToolServer =>
  toolServerOf({ baseUrl, ...fields });

/** Accepts only connections that present a certificate of `ca`; records its subject. */
export async function tlsServer(options: {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}): Promise<{ readonly url: string; readonly clients: readonly string[]; close(): Promise<void> }> {
  const clients: string[] = [];
  const server = createTlsServer({ ...options, requestCert: true, rejectUnauthorized: true }, (request, response) => {
    clients.push(String((request.socket as TLSSocket).getPeerCertificate().subject.CN));
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `https://127.0.0.1:${address.port}`,
    clients,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
