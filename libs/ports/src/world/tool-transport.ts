// HTTP to tool servers, behind the outbound guard: resolved once, checked, no redirects, capped.
import type { TenantId } from '@dormouse/thread';
import type { ThreadKey } from '../log/thread-key.ts';
import type { ToolServer } from '../registry/registry.ts';

export type SendOutcome =
  /** The server answered. */
  | { readonly sent: true; readonly status: number; readonly retryAfterMs: number | null }
  /** No answer. `reached` is false when the connection failed before a byte was sent. */
  | { readonly sent: false; readonly reached: boolean; readonly code: string; readonly detail: string };

export type FetchOutcome =
  | { readonly ok: true; readonly status: number; readonly body: string }
  | {
      readonly ok: false;
      readonly code: 'OUTBOUND_FORBIDDEN' | 'TOOLSET_UNREACHABLE' | 'TOOLSET_INVALID';
      readonly detail: string;
    };

export type UrlVerdict = { readonly ok: true } | { readonly ok: false; readonly detail: string };

export interface SendRequest {
  readonly server: ToolServer;
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** The end user whose credential it may present. Default: none. */
  readonly userId?: string | null;
  /** What the request is about; for spans. */
  readonly about?: ThreadKey & { readonly toolCallId: string; readonly attempt: number; readonly at: number };
}

export interface ToolTransport {
  /** POSTs JSON. The registration's credentials are sent only to its own origin. Never throws for a network failure. */
  post(request: SendRequest): Promise<SendOutcome>;
  /** GETs JSON text, at most `bytesMax`. */
  get(request: {
    readonly server: ToolServer;
    readonly url: string;
    readonly timeoutMs: number;
    readonly bytesMax: number;
  }): Promise<FetchOutcome>;
  /**
   * Whether a request of this tenant to this URL may leave at all; sends none. A name that cannot be resolved now may
   * be resolved later and is no refusal. The detail names no address that a name resolved to.
   */
  judge(url: string, tenant: TenantId): Promise<UrlVerdict>;
}
