// What is answered where no route takes a request: 405 where another method is one, else 404.
//
// Invariant:
//   W1. `Allow` names the methods of the operations and pages at this path, and HEAD where GET is one.
import type { FastifyInstance } from 'fastify';
import { allOperations } from '../../api/operations.ts';
import { pathOf } from '../data-plane/call.ts';
import { HttpProblem, nothingHere } from './problem.ts';

/** Pages that are no operations. */
const pages: readonly string[] = [
  '/',
  '/openapi.json',
  '/healthz',
  '/readyz',
  '/errors/{code}',
  '/docs',
  '/docs/{page}',
  '/answer/{token}',
];

interface Place {
  readonly form: RegExp;
  readonly methods: Set<string>;
}

const places: readonly Place[] = placesOf([
  ...allOperations.map(({ path, method }) => ({ path, method })),
  ...pages.map((path) => ({ path, method: 'GET' })),
  { path: '/hooks/{source}/{token}', method: 'POST' },
  { path: '/answer/{token}', method: 'POST' },
]);

function placesOf(routes: readonly { readonly path: string; readonly method: string }[]): readonly Place[] {
  const byPath = new Map<string, Place>();
  for (const { path, method } of routes) {
    const known = byPath.get(path) ?? { form: formOf(path), methods: new Set() };
    byPath.set(path, known);
    known.methods.add(method);
    if (method === 'GET') known.methods.add('HEAD'); // (W1)
  }
  return [...byPath.values()];
}

/** Every character but those of a parameter stands for itself. */
function formOf(path: string): RegExp {
  const parts = path.split(/\{\w+\}/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^/]+')}$`);
}

export function allowedAt(path: string): readonly string[] {
  const methods = places.filter(({ form }) => form.test(path)).flatMap((place) => [...place.methods]);
  return [...new Set(methods)].toSorted();
}

/** 405 or 404 for this request. */
export function noRoute(method: string, url: string): HttpProblem {
  const allowed = allowedAt(pathOf(url));
  if (allowed.length === 0 || allowed.includes(method)) return nothingHere();
  const allow = allowed.join(', ');
  return new HttpProblem('METHOD_NOT_ALLOWED', `This path takes ${allow}.`, { headers: { allow } });
}

const methods = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** Takes what no other route does, of all methods but GET outside of the API: that is the console's. */
export function registerNoRoute(server: FastifyInstance): void {
  server.route({ method: [...methods, 'GET'], url: '/v1/*', handler: ({ method, url }) => refuse(method, url) });
  server.route({ method: [...methods], url: '/*', handler: ({ method, url }) => refuse(method, url) });
}

function refuse(method: string, url: string): never {
  throw noRoute(method, url);
}
