// HTTP to the endpoints of customers, behind the outbound guard: signed, resolved once, checked, no redirects, capped.
import type { TenantId } from '@dormouse/thread';
import type { UrlVerdict } from './tool-transport.ts';

export interface WebhookRequest {
  readonly tenant: TenantId;
  readonly url: string;
  /** The `webhook-id`: the receiver dedups on it. */
  readonly id: string;
  readonly body: string;
  /** Each signs: `whsec_` and base64, the newest first. */
  readonly secrets: readonly string[];
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export type WebhookOutcome =
  /** `aborts`: the answer says that this delivery is not to be sent again. */
  | { readonly answered: true; readonly status: number; readonly aborts: boolean }
  | { readonly answered: false; readonly code: 'OUTBOUND_FORBIDDEN' | 'TIMEOUT' | 'UNREACHABLE' };

export interface WebhookTransport {
  /**
   * POSTs. Never throws for a network failure. @throws Fault when what the tenant may call cannot be read: nothing was
   * sent, and the endpoint has not failed.
   */
  post(request: WebhookRequest): Promise<WebhookOutcome>;
  /** As `ToolTransport.judge`; a URL over plain http that no rule names is refused also while it has no address. */
  judge(url: string, tenant: TenantId): Promise<UrlVerdict>;
}
