// Credentials of end users for tool servers, as administrators set them: write-only, sealed, bound to one origin.
//
// Invariants:
//   C1. What is sealed passes through here once, on its way to the seal; it is never given back, logged or returned.
//   C2. A credential goes to the origin that the tool server had when it was set: who moves the registration elsewhere
//       does not get it.
import {
  credentialOwner,
  type ToolServers,
  type ToolTransport,
  type UserCredential,
  type TenantId,
} from '@dormouse/ports';
import type { IngressParts } from '../ingress-gateway/ingress-ports.ts';
import { answered, type Answered, invalid, notFound } from '../ingress-gateway/refusal.ts';

export type NewCredential =
  | { readonly type: 'bearer'; readonly value: string }
  | {
      readonly type: 'oauth2';
      readonly tokenUrl: string;
      readonly clientId: string;
      readonly clientSecret: string | null;
      readonly refreshToken: string;
      readonly accessToken: string | null;
      /** Of the access token: milliseconds since the epoch, null when it is not known. */
      readonly expiresAt: number | null;
    };

export type ShownCredential = Pick<
  UserCredential,
  'toolServer' | 'type' | 'origin' | 'createdAt' | 'updatedAt' | 'expiresAt' | 'failedAt'
>;

export interface UserCredentialApi {
  /** 404 for a tool server that is not registered. */
  put(tenant: TenantId, userId: string, toolServer: string, wanted: NewCredential): Promise<Answered<null>>;
  get(tenant: TenantId, userId: string, toolServer: string): Promise<Answered<ShownCredential>>;
  list(tenant: TenantId, userId: string): Promise<readonly ShownCredential[]>;
  remove(tenant: TenantId, userId: string, toolServer: string): Promise<Answered<null>>;
}

export interface UserCredentialPorts extends Pick<IngressParts, 'userCredentials' | 'sealer' | 'clock'> {
  readonly toolServers: Pick<ToolServers, 'get'>;
  readonly transport: Pick<ToolTransport, 'judge'>;
}

export function createUserCredentialApi(ports: UserCredentialPorts): UserCredentialApi {
  const { userCredentials, toolServers, transport, sealer, clock } = ports;

  return {
    async put(tenant, userId, given, wanted) {
      const server = await toolServers.get(tenant, given);
      if (server === null) return notFound('tool server');
      if (wanted.type === 'oauth2') {
        const verdict = await transport.judge(wanted.tokenUrl, tenant);
        if (!verdict.ok) return invalid([{ pointer: '/token_url', detail: verdict.detail }]);
      }
      const { name: toolServer } = server;
      const now = clock.now();
      const before = await userCredentials.get(tenant, userId, toolServer);
      const sealed = sealer.seal(credentialOwner(tenant, userId, toolServer), JSON.stringify(wanted)); // (C1)
      await userCredentials.put({
        ...{ tenant, userId, toolServer, type: wanted.type, origin: new URL(server.baseUrl).origin, sealed }, // (C2)
        ...{ version: (before?.version ?? 0) + 1, createdAt: before?.createdAt ?? now, updatedAt: now },
        expiresAt: wanted.type === 'oauth2' ? wanted.expiresAt : null,
        ...{ lease: null, failedAt: null },
      });
      return answered(null);
    },
    async get(tenant, userId, toolServer) {
      const found = await userCredentials.get(tenant, userId, await nameOf(tenant, toolServer));
      return found === null ? notFound('credential') : answered(shown(found));
    },
    list: async (tenant, userId) => (await userCredentials.list(tenant, userId)).map(shown),
    async remove(tenant, userId, toolServer) {
      const isThere = await userCredentials.remove(tenant, userId, await nameOf(tenant, toolServer));
      return isThere ? answered(null) : notFound('credential');
    },
  };

  /** A credential outlives the registration of its server. */
  async function nameOf(tenant: TenantId, nameOrId: string): Promise<string> {
    return (await toolServers.get(tenant, nameOrId))?.name ?? nameOrId;
  }
}

const shown = (credential: UserCredential): ShownCredential => {
  const { toolServer, type, origin, createdAt, updatedAt, expiresAt, failedAt } = credential;
  return { toolServer, type, origin, createdAt, updatedAt, expiresAt, failedAt };
};
