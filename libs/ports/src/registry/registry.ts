// What operators configure: agents (immutable versions), tool servers, secrets; and the fetched manifests, by hash.
import type { Limits, Policies, TenantId } from '@dormouse/thread';

export interface ModelConfig {
  readonly provider: string;
  /** The provider's model name; may be '' for `demo` and `scripted`. */
  readonly name: string;
  readonly baseUrl: string | null;
  readonly apiKeySecret: string | null;
  readonly contextWindowTokens: number;
  readonly outputTokensMax: number | null;
  readonly images: boolean;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface Agent {
  readonly tenant: TenantId;
  readonly id: string;
  readonly name: string;
  /** 1, 2, 3, … */
  readonly version: number;
  readonly createdAt: number;
  readonly instructions: string;
  readonly model: ModelConfig;
  readonly toolServers: readonly string[];
  readonly policies: Policies;
  readonly limits: Limits;
  /** SHA-256 of the canonical content, to recognise an identical version. */
  readonly contentSha256: string;
}

export type ToolServerAuth =
  | { readonly type: 'bearer'; readonly secret: string }
  | { readonly type: 'hmac'; readonly secret: string }
  | { readonly type: 'mtls'; readonly certificateSecret: string; readonly keySecret: string }
  | { readonly type: 'sigv4'; readonly region: string; readonly service: string; readonly accessKeySecret: string };

/** Names of the secrets that a registration needs, in the order of its fields. */
export function secretNamesOf(auth: ToolServerAuth): readonly string[] {
  switch (auth.type) {
    case 'bearer':
    case 'hmac':
      return [auth.secret];
    case 'mtls':
      return [auth.certificateSecret, auth.keySecret];
    case 'sigv4':
      return [auth.accessKeySecret];
  }
}

/** Which trace a tool server sees: ours, one of its own that ours links, or none. */
export type PropagateTrace = 'same' | 'fresh' | 'none';

export interface ToolServer {
  readonly tenant: TenantId;
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly baseUrl: string;
  readonly endpointOverride: string | null;
  readonly auth: ToolServerAuth | null;
  readonly forwardUserId: boolean;
  readonly trustAnnotations: boolean;
  readonly pinnedSha256: string | null;
  /** Absent means `same`, as in registrations of earlier versions. */
  readonly propagateTrace?: PropagateTrace;
  readonly paused: boolean;
  /** When it was resumed the last time, milliseconds since the epoch. Absent: never. */
  readonly resumedAt?: number;
}

/** A manifest that was fetched and found valid. */
export interface StoredToolset {
  readonly tenant: TenantId;
  readonly sha256: string;
  /** The manifest's canonical JSON. */
  readonly manifest: string;
}

/** A secret as stored: sealed by the host, never readable through the API. */
export interface SealedSecret {
  readonly tenant: TenantId;
  readonly name: string;
  readonly origins: readonly string[];
  readonly sealed: string;
  readonly createdAt: number;
}

export interface Page<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}

export interface PageRequest {
  readonly limit: number;
  readonly cursor: string | null;
}

export interface Agents {
  /** Inserts version `agent.version`; false when that version exists. */
  insert(agent: Agent): Promise<boolean>;
  latest(tenant: TenantId, nameOrId: string): Promise<Agent | null>;
  version(tenant: TenantId, nameOrId: string, version: number): Promise<Agent | null>;
  /** Latest version of each, by name. */
  list(tenant: TenantId, page: PageRequest): Promise<Page<Agent>>;
  /** Of all versions; what pauses the agent goes with it. */
  remove(tenant: TenantId, name: string): Promise<boolean>;
  /** Pauses all versions of the agent, or lets them go on. Resolves when durable. */
  setPaused(tenant: TenantId, name: string, isPaused: boolean): Promise<void>;
  /** Names of those that are paused, in order. */
  paused(tenant: TenantId): Promise<readonly string[]>;
}

export interface ToolServers {
  /** False when the name is taken. */
  insert(server: ToolServer): Promise<boolean>;
  get(tenant: TenantId, nameOrId: string): Promise<ToolServer | null>;
  list(tenant: TenantId, page: PageRequest): Promise<Page<ToolServer>>;
  /** Only where `seen` is what is stored; false otherwise. */
  replace(server: ToolServer, seen: ToolServer): Promise<boolean>;
  remove(tenant: TenantId, name: string): Promise<boolean>;
}

export interface Toolsets {
  put(toolset: StoredToolset): Promise<void>;
  get(tenant: TenantId, sha256: string): Promise<StoredToolset | null>;
  /** Stores and reads the last valid manifest of the tool server at a base URL. */
  putLastGood(tenant: TenantId, baseUrl: string, sha256: string): Promise<void>;
  lastGood(tenant: TenantId, baseUrl: string): Promise<string | null>;
}

export interface Secrets {
  put(secret: SealedSecret): Promise<void>;
  get(tenant: TenantId, name: string): Promise<SealedSecret | null>;
  list(tenant: TenantId): Promise<readonly SealedSecret[]>;
  /** Only where `seen` is what is stored; false otherwise. */
  replace(secret: SealedSecret, seen: SealedSecret): Promise<boolean>;
  remove(tenant: TenantId, name: string): Promise<boolean>;
}
