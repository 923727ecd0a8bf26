/**
 * Owns: routes of a tool server's own, above all webhooks, which report events from outside.
 *
 * Z1. A webhook that is not signed by its source changes nothing. T31
 */
import { checkJson } from '@dormouse/json';
import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { createAuthentication, isSame } from './authentication.ts';
import { textOf } from './body-text.ts';
import type { ToolServer } from '../define/tool-server.ts';

export interface RouteRequest {
  readonly headers: IncomingHttpHeaders;
  readonly query: URLSearchParams;
  readonly body: Buffer;
}

export interface RouteAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Not behind the runtime's authentication: the callers of these routes are other services. */
export interface Route {
  readonly method: 'GET' | 'POST';
  /** Exact, without a query. */
  readonly path: string;
  /** Whether these headers may belong to a request for `handle`; others are answered 401 before their body is read. */
  readonly mayTake?: (headers: IncomingHttpHeaders) => boolean;
  readonly handle: (request: RouteRequest, server: ToolServer) => RouteAnswer | Promise<RouteAnswer>;
}

/** An inbound event whose signature was checked. */
export interface WebhookEvent {
  readonly payload: unknown;
  /** The source's id of this delivery; pass it to `emit` as `eventId`. */
  readonly deliveryId?: string;
  readonly headers: IncomingHttpHeaders;
}

export interface WebhookOptions {
  readonly path: string;
  /** Shared with the source. */
  readonly secret: string | ((server: ToolServer) => string);
  /** `github`: `X-Hub-Signature-256`. `standard`: Standard Webhooks. */
  readonly scheme: 'github' | 'standard';
  readonly handle: (event: WebhookEvent, server: ToolServer) => void | Promise<void>;
}

/** A POST route that passes on JSON with a good signature, and answers 401 to everything else. (Z1) */
export function webhook(options: WebhookOptions): Route {
  return {
    method: 'POST',
    path: options.path,
    mayTake: (headers) =>
      options.scheme === 'github'
        ? headers['x-hub-signature-256'] !== undefined
        : createAuthentication({ hmac: 'any' }).mayAccept(headers),
    async handle({ headers, body }, server) {
      const secret = typeof options.secret === 'string' ? options.secret : options.secret(server);
      if (secret === '' || !isSigned(options.scheme, headers, body, secret)) return { status: 401 };
      const json = checkJson(textOf(body) ?? '');
      if (!json.ok) return { status: 400 };
      const deliveryId = headers[options.scheme === 'github' ? 'x-github-delivery' : 'webhook-id'];
      await options.handle(
        { payload: json.value, headers, ...(typeof deliveryId === 'string' ? { deliveryId } : {}) },
        server,
      );
      return { status: 202 };
    },
  };
}

function isSigned(scheme: 'github' | 'standard', headers: IncomingHttpHeaders, body: Buffer, secret: string): boolean {
  if (scheme === 'standard') return createAuthentication({ hmac: secret }).accepts(headers, body);
  const given = headers['x-hub-signature-256'];
  return (
    typeof given === 'string' && isSame(given, `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`)
  );
}
