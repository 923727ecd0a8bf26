// What the client API is made of: what its host gives, and what is made of that once for all its parts. Each part picks
// what it needs.
import type {
  Clock,
  Entropy,
  IdempotencyKeys,
  InputBus,
  Logger,
  Sealer,
  Stores,
  ToolTransport,
  WebhookTransport,
} from '@dormouse/ports';
import type { AuditSigner } from '../audit/audit-api.ts';
import type { Auditor } from '../audit/auditor.ts';
import type { CallbackTokens } from '../callback-gateway/callback-token.ts';
import type { UserNames } from '../erasure/user-name.ts';
import type { ShownQuotas } from '../tenants/quotas.ts';
import type { TenantLimits } from '../tenants/tenant-limits.ts';
import type { ValidateArguments } from '../thread-processor/completion/call-arguments.ts';
import type { MintRequestName } from './access/client-id.ts';
import type { SigningKeys } from './access/token-keys.ts';
import type { ThreadLookup } from './write/thread-lookup.ts';

type IngressStores = Pick<
  Stores,
  | ('log' | 'tenantLog' | 'snapshots' | 'directory' | 'parked' | 'ledger' | 'callbackCounts')
  | 'feed'
  | ('agents' | 'toolServers' | 'toolsets' | 'toolActivity' | 'secrets' | 'apiKeys')
  | ('blobs' | 'views' | 'logins' | 'revokedTokens' | 'inbox' | 'auditLog')
  | ('tenants' | 'userCredentials' | 'erasures' | 'remover')
  | ('webhooks' | 'webhookDeliveries' | 'webhookReaders')
  | ('sources' | 'deliveries' | 'schedules')
>;

export interface IngressPorts extends IngressStores {
  readonly bus: InputBus;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly transport: ToolTransport;
  readonly webhookTransport: Pick<WebhookTransport, 'judge'>;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly sealer: Sealer;
  /** Where a secret of this name goes when it names no origin. Default: none. */
  readonly secretOrigins?: Readonly<Record<string, string>>;
  readonly callbackTokens: CallbackTokens;
  /** Null where arguments are left to the tool server. */
  readonly validateArguments: ValidateArguments | null;
  /** Where a tenant has no quota of its own. Default: the standard ones. */
  readonly quotas?: Partial<ShownQuotas>;
  /** Default: no tenant has a quota. */
  readonly limits?: TenantLimits;
  /** Signs thread tokens and answer links; the same in every process, kept out of every store. */
  readonly signingKey: SigningKeys;
  readonly auditSigner: AuditSigner;
  /** Names end users in erasures. Default: under a key that is no secret. */
  readonly userNames?: UserNames;
  /** Signed deliveries of sources. Default: at no address, by the clock above, and without a log. */
  readonly hooks?: {
    /** `https://host[/prefix]` of this installation, as senders reach it. */
    readonly publicBase: string;
    /** Milliseconds since the epoch, by the clock of senders. */
    readonly wallNow: () => number;
    readonly logger: Logger;
  };
}

/** With what is made of them. */
export interface IngressParts extends IngressPorts {
  readonly limits: TenantLimits;
  readonly threads: ThreadLookup;
  readonly mintName: MintRequestName;
  readonly audit: Auditor;
}
