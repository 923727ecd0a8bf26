// The built site on this machine: its files over HTTP, for a look and for tests.
//
// Invariants:
//   F1. It listens on loopback, and answers nothing but files of its folder.
import { createReadStream, statSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize, sep } from 'node:path';

export interface StaticServer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

const mediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
};

/** Port 0 takes any free one. @throws Error when the port is taken. */
export async function serveFiles(folder: string, port: number): Promise<StaticServer> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const file = fileOf(folder, pathname);
    if (file !== null && (request.method === 'GET' || request.method === 'HEAD')) send(response, 200, file);
    else send(response, 404, join(folder, '404.html'));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Null for what is no file of the folder. (F1) */
function fileOf(folder: string, pathname: string): string | null {
  const path = decoded(pathname);
  if (path === null) return null;
  const file = normalize(join(folder, path.endsWith('/') ? `${path}index.html` : path));
  return file.startsWith(folder + sep) && statSync(file, { throwIfNoEntry: false })?.isFile() === true ? file : null;
}

function decoded(pathname: string): string | null {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return null; // no text in UTF-8
  }
}

function send(response: ServerResponse, status: number, file: string): void {
  response.writeHead(status, { 'content-type': mediaTypes[extname(file)] ?? 'application/octet-stream' });
  createReadStream(file)
    .on('error', () => response.destroy())
    .pipe(response);
}
