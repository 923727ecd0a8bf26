// The console: its built files, the fallback of its client-side routes, and the link that opens it signed in.
//
// Invariants:
//   W1. What is sent is in the list of the build's own files: no path from outside reaches the file system.
//   W2. Routes of the API are never answered with a page; an unknown path below them is a problem document.
//   W3. A code is redeemed by a navigation that no other site caused, and never by HEAD or a prefetch; the answer leads
//       to an address without it.
import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pathOf } from '../data-plane/call.ts';
import { nothingHere } from '../problems/problem.ts';
import { consoleHeaders, plainPage, plainPageHeaders } from './page-headers.ts';
import { sessionCookie } from './session-cookie.ts';
import type { SessionRouteDeps } from './session-routes.ts';

export interface ConsoleDeps extends Pick<SessionRouteDeps, 'doorkeeper' | 'sessions' | 'site' | 'clock'> {
  /** The built files. Null where no console is served. */
  readonly consoleDir: string | null;
}

const indexFile = 'index.html';
/** Files whose names have a hash of their content. */
const hashedFolder = 'assets/';
const yearS = 365 * 86_400;
const noFiles: ReadonlySet<string> = new Set();

/** First segments of paths that are no pages of the console. (W2) */
const reserved: ReadonlySet<string> = new Set([
  ...['v1', 'errors', 'openapi.json', 'docs', 'metrics', 'healthz', 'readyz', 'callback', 'hooks', 'answer'],
]);

export async function registerConsole(server: FastifyInstance, deps: ConsoleDeps): Promise<void> {
  const { consoleDir } = deps;
  if (consoleDir === null) return;
  await server.register(fastifyStatic, { root: consoleDir, serve: false });
  let files = await filesIn(consoleDir);
  server.get<{ Params: { '*': string } }>('/*', async (request, reply) => {
    const path = pathOf(request.url);
    if (reserved.has(path.split('/')[1] ?? '')) throw nothingHere(); // (W2)
    deps.doorkeeper.admit(request.headers);
    const { code } = request.query as { readonly code?: unknown };
    if (path === '/' && typeof code === 'string') return redeem(deps, code, request, reply);
    const file = request.params['*'];
    if (files.has(file) && file !== indexFile) return send(reply, file);
    if (!isClientRoute(path, request)) throw nothingHere();
    files = await filesIn(consoleDir); // a new build has other names
    return files.has(indexFile) ? send(reply, indexFile) : sendPage(reply, 503, notBuilt);
  });
}

/** Relative to the directory, with slashes; none when it is not there. (W1) */
async function filesIn(directory: string): Promise<ReadonlySet<string>> {
  try {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    return new Set(
      files.map(({ parentPath, name }) => relative(directory, join(parentPath, name)).split(sep).join('/')),
    );
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return noFiles;
    throw error;
  }
}

function send(reply: FastifyReply, file: string): FastifyReply {
  const isHashed = file.startsWith(hashedFolder);
  const caching = isHashed ? `public, max-age=${yearS}, immutable` : 'no-cache';
  return reply.headers({ ...consoleHeaders, 'cache-control': caching }).sendFile(file, { cacheControl: false });
}

/** Whether a path may be a page that the console itself knows: a navigation, and no name of a file. */
function isClientRoute(path: string, { headers }: FastifyRequest): boolean {
  const { accept = '*/*' } = headers;
  if (!/\btext\/html\b|\*\/\*/.test(accept)) return false;
  if (`${path}/`.startsWith(`/${hashedFolder}`) || /%(2f|5c|00)|\\|\/\.{1,2}(\/|$)/i.test(path)) return false;
  return !/\.(html?|[cm]?js|css|map|json|txt|xml|ico|png|jpe?g|gif|svg|webp|woff2?|webmanifest|wasm)$/i.test(path);
}

const sendPage = (reply: FastifyReply, status: number, page: string): FastifyReply =>
  reply.status(status).headers(plainPageHeaders).send(page);

const notBuilt = plainPage(
  'The console is not built',
  'Type <code>npm run build</code> where Dormouse is, then load this page again. The API works without it.',
);

const linkOver = plainPage(
  'This link is used up',
  'A link to the console works once and for ten minutes. <code>npx @dormouse/cli console</code> makes another one.',
  'If this browser is signed in already: <a href="/">open the console</a>. A key signs in there too.',
);

const linkFromElsewhere = plainPage(
  'Open this link yourself',
  'Another site has led here. Copy the link into the address bar instead; it is not used yet.',
);

/** (W3) */
async function redeem(
  { sessions, site, clock }: ConsoleDeps,
  code: string,
  { headers, method }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const from = headers['sec-fetch-site'];
  const isPrefetch = headers['sec-purpose'] !== undefined || headers['purpose'] !== undefined;
  if (method !== 'GET' || isPrefetch) return sendPage(reply, 403, linkFromElsewhere);
  if (from === 'cross-site' || from === 'same-site') return sendPage(reply, 403, linkFromElsewhere);
  const session = await sessions.redeem(code);
  if (session === null) return sendPage(reply, 410, linkOver);
  return reply
    .headers({ ...plainPageHeaders, location: '/' })
    .header('set-cookie', sessionCookie(headers, site, session.secret, session.expiresAt - clock.now()))
    .status(303)
    .send('');
}
