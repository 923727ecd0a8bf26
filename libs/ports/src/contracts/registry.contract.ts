// The contracts of what operators configure: `Agents`, `ToolServers`, `Toolsets`, `Secrets`, and of `ApiKeys`.
//
//   G1. Agent versions are immutable and unique by name; the latest is the one with the largest number.
//   G2. Names and ids are both accepted where one of them is expected.
//   G3. Lists are ordered by name, and their pages, one after the other, are the list.
//   G4. Everything belongs to its tenant.
//   G5. An agent is paused by its name, whatever its versions; a name that is given again begins unpaused.
import { describe, expect, it } from 'vitest';
import {
  tenantId,
  type TenantId,
  type Agent,
  type Agents,
  type ApiKey,
  type ApiKeys,
  type Page,
  type PageRequest,
  type SealedSecret,
  type Secrets,
  type ToolServer,
  type ToolServers,
  type Toolsets,
} from '../index.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

let names = 0;
const freshTenant = (): TenantId => tenantId(`tenant-${(names += 1)}-${Math.random().toString(36).slice(2, 8)}`);

function agentOf(tenant: TenantId, name: string, version: number): Agent {
  return {
    tenant,
    id: `agt_${tenant}_${name}`,
    name,
    version,
    createdAt: 1_700_000_000_000 + version,
    instructions: `Be kind. Version ${version} 🐢`,
    model: {
      provider: 'demo',
      name: '',
      baseUrl: null,
      apiKeySecret: null,
      contextWindowTokens: 8_000,
      outputTokensMax: null,
      images: false,
      parameters: { temperature: 0.5 },
    },
    toolServers: ['tools'],
    policies: {
      onInterrupt: 'cancel',
      onInterruptHuman: 'keep',
      eventStyle: 'kind',
      eventChildren: 'keep',
      approve: { mode: 'destructive', tools: { drop: 'always' } },
      cancelSubscriptionsOnClose: false,
    },
    limits: {
      completionsPerWakeMax: 50,
      toolTimeoutMs: { default: null, slow: 5 },
      tokensPerDayMax: null,
      eventWaitMsMax: 1,
      callbackTtlS: null,
    },
    contentSha256: `sha-${version}`,
  };
}

function serverOf(tenant: TenantId, name: string, changes: Partial<ToolServer> = {}): ToolServer {
  return {
    tenant,
    id: `tsv_${tenant}_${name}`,
    name,
    createdAt: 1,
    updatedAt: 1,
    baseUrl: 'http://127.0.0.1:9000',
    endpointOverride: null,
    auth: { type: 'bearer', secret: 'token' },
    forwardUserId: false,
    trustAnnotations: false,
    pinnedSha256: null,
    paused: false,
    ...changes,
  };
}

async function namesOfAll(
  list: (page: PageRequest) => Promise<Page<{ readonly name: string }>>,
  limit: number,
): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<{ readonly name: string }> = await list({ limit, cursor });
    expect(page.data.length).toBeLessThanOrEqual(limit);
    found.push(...page.data.map(({ name }) => name));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return found;
}

export function agentsContract(name: string, make: () => Promise<UnderTest<Agents>>): void {
  describe(`Agents contract: ${name}`, () => {
    const opened = openedOnce(make);

    it('G1: a version is inserted once, and the latest is the largest', async () => {
      const agents = await opened.get();
      const tenant = freshTenant();
      const [one, two] = [agentOf(tenant, 'support', 1), agentOf(tenant, 'support', 2)];
      expect(await agents.insert(one)).toBe(true);
      expect(await agents.insert({ ...one, instructions: 'changed' })).toBe(false);
      expect(await agents.insert(two)).toBe(true);
      expect(await agents.latest(tenant, 'support')).toEqual(two);
      expect(await agents.version(tenant, 'support', 1)).toEqual(one);
      expect(await agents.version(tenant, 'support', 3)).toBeNull();
    });

    it('G1: of many who insert one version at once exactly one wins', async () => {
      const agents = await opened.get();
      const tenant = freshTenant();
      const won = await Promise.all(Array.from({ length: 10 }, () => agents.insert(agentOf(tenant, 'support', 1))));
      expect(won.filter(Boolean)).toHaveLength(1);
    });

    it('G5: an agent is paused with all its versions, until it goes on or is removed', async () => {
      const agents = await opened.get();
      const [tenant, other] = [freshTenant(), freshTenant()];
      await agents.insert(agentOf(tenant, 'support', 1));
      for (const name of ['support', 'support', 'writer']) await agents.setPaused(tenant, name, true);
      await agents.setPaused(other, 'reader', true);
      expect(await agents.paused(tenant)).toEqual(['support', 'writer']);
      await agents.setPaused(tenant, 'writer', false);
      await agents.setPaused(tenant, 'writer', false);
      expect(await agents.paused(tenant)).toEqual(['support']);
      await agents.remove(tenant, 'support');
      expect(await agents.paused(tenant)).toEqual([]);
      expect(await agents.paused(other)).toEqual(['reader']);
    });

    it('G2: an id is as good as a name', async () => {
      const agents = await opened.get();
      const tenant = freshTenant();
      const agent = agentOf(tenant, 'support', 1);
      await agents.insert(agent);
      expect(await agents.latest(tenant, agent.id)).toEqual(agent);
      expect(await agents.version(tenant, agent.id, 1)).toEqual(agent);
      expect(await agents.latest(tenant, 'nobody')).toBeNull();
    });

    it('G3: the list has the latest of each, by name', async () => {
      const agents = await opened.get();
      const tenant = freshTenant();
      for (const each of ['mia', 'adam', 'zoe', 'bea'])
        for (const version of [1, 2, 3]) await agents.insert(agentOf(tenant, each, version));
      const { data } = await agents.list(tenant, { limit: 10, cursor: null });
      expect(data).toEqual(['adam', 'bea', 'mia', 'zoe'].map((each) => agentOf(tenant, each, 3)));
      for (const limit of [1, 2, 3, 4])
        expect(await namesOfAll((page) => agents.list(tenant, page), limit)).toEqual(['adam', 'bea', 'mia', 'zoe']);
    });

    it('G4: tenants do not see each other, and a removed agent is gone with all its versions', async () => {
      const agents = await opened.get();
      const [ours, theirs] = [freshTenant(), freshTenant()];
      await agents.insert(agentOf(ours, 'support', 1));
      await agents.insert(agentOf(ours, 'support', 2));
      expect(await agents.latest(theirs, 'support')).toBeNull();
      expect((await agents.list(theirs, { limit: 10, cursor: null })).data).toEqual([]);
      expect(await agents.remove(theirs, 'support')).toBe(false);
      expect(await agents.remove(ours, 'support')).toBe(true);
      expect(await agents.remove(ours, 'support')).toBe(false);
      expect(await agents.version(ours, 'support', 1)).toBeNull();
    });
  });
}

export function toolServersContract(name: string, make: () => Promise<UnderTest<ToolServers>>): void {
  describe(`ToolServers contract: ${name}`, () => {
    const opened = openedOnce(make);

    it('G2: a server comes back by name and by id; its name is taken once', async () => {
      const servers = await opened.get();
      const tenant = freshTenant();
      const server = serverOf(tenant, 'weather');
      expect(await servers.insert(server)).toBe(true);
      expect(await servers.insert({ ...server, id: `${server.id}_2`, baseUrl: 'http://elsewhere' })).toBe(false);
      expect(await servers.get(tenant, 'weather')).toEqual(server);
      expect(await servers.get(tenant, server.id)).toEqual(server);
      expect(await servers.get(tenant, 'nobody')).toBeNull();
    });

    it('G3: the list is by name, page by page', async () => {
      const servers = await opened.get();
      const tenant = freshTenant();
      for (const each of ['c', 'a', 'b']) await servers.insert(serverOf(tenant, each));
      for (const limit of [1, 2, 3, 10])
        expect(await namesOfAll((page) => servers.list(tenant, page), limit)).toEqual(['a', 'b', 'c']);
    });

    it('G4: of many who replace one server at once exactly one does', async () => {
      const servers = await opened.get();
      const server = serverOf(freshTenant(), 'weather');
      await servers.insert(server);
      const changes = Array.from({ length: 8 }, (_, nth) => ({ ...server, updatedAt: 100 + nth }));
      const done = await Promise.all(changes.map((changed) => servers.replace(changed, server)));
      expect(done.filter(Boolean)).toHaveLength(1);
      expect(await servers.get(server.tenant, 'weather')).toEqual(changes[done.indexOf(true)]);
    });

    it('G4: replacing and removing touch the server of this tenant, and say whether there was one', async () => {
      const servers = await opened.get();
      const [ours, theirs] = [freshTenant(), freshTenant()];
      await servers.insert(serverOf(ours, 'weather'));
      const changed = serverOf(ours, 'weather', { auth: null, paused: true, updatedAt: 9 });
      const before = serverOf(ours, 'weather');
      expect(await servers.replace(serverOf(theirs, 'weather'), serverOf(theirs, 'weather'))).toBe(false);
      expect(await servers.replace(changed, { ...before, updatedAt: 8 })).toBe(false);
      expect(await servers.replace(changed, before)).toBe(true);
      expect(await servers.replace(before, before)).toBe(false);
      expect(await servers.get(ours, 'weather')).toEqual(changed);
      expect(await servers.remove(theirs, 'weather')).toBe(false);
      expect(await servers.remove(ours, 'weather')).toBe(true);
      expect(await servers.get(ours, 'weather')).toBeNull();
      expect(await servers.remove(ours, 'weather')).toBe(false);
    });
  });
}

export function toolsetsContract(name: string, make: () => Promise<UnderTest<Toolsets>>): void {
  describe(`Toolsets contract: ${name}`, () => {
    const opened = openedOnce(make);

    it('G4: a manifest is found by tenant and hash; putting twice is putting once', async () => {
      const toolsets = await opened.get();
      const tenant = freshTenant();
      const toolset = { tenant, sha256: 'abc', manifest: '{"tools":[]}' };
      await Promise.all([toolsets.put(toolset), toolsets.put(toolset)]);
      expect(await toolsets.get(tenant, 'abc')).toEqual(toolset);
      expect(await toolsets.get(freshTenant(), 'abc')).toBeNull();
      expect(await toolsets.get(tenant, 'abd')).toBeNull();
    });

    it('the last good manifest of a base URL is the one put last', async () => {
      const toolsets = await opened.get();
      const tenant = freshTenant();
      expect(await toolsets.lastGood(tenant, 'https://weather.example')).toBeNull();
      await toolsets.putLastGood(tenant, 'https://weather.example', 'one');
      await toolsets.putLastGood(tenant, 'https://weather.example', 'two');
      expect(await toolsets.lastGood(tenant, 'https://weather.example')).toBe('two');
      expect(await toolsets.lastGood(tenant, 'https://clock.example/rap')).toBeNull();
      expect(await toolsets.lastGood(freshTenant(), 'https://weather.example')).toBeNull();
    });
  });
}

export function secretsContract(name: string, make: () => Promise<UnderTest<Secrets>>): void {
  describe(`Secrets contract: ${name}`, () => {
    const opened = openedOnce(make);

    it('G4: a secret is replaced by name, listed by name, removed once, and nobody else’s', async () => {
      const secrets = await opened.get();
      const [ours, theirs] = [freshTenant(), freshTenant()];
      const secretOf = (each: string, sealed: string): SealedSecret => ({
        tenant: ours,
        name: each,
        origins: ['https://api.example'],
        sealed,
        createdAt: 5,
      });
      await secrets.put(secretOf('token', 'one'));
      await secrets.put(secretOf('token', 'two'));
      await secrets.put(secretOf('key', 'three'));
      expect(await secrets.get(ours, 'token')).toEqual(secretOf('token', 'two'));
      expect(await secrets.list(ours)).toEqual([secretOf('key', 'three'), secretOf('token', 'two')]);
      expect(await secrets.get(theirs, 'token')).toBeNull();
      expect(await secrets.list(theirs)).toEqual([]);
      expect(await secrets.replace(secretOf('token', 'late'), secretOf('token', 'one'))).toBe(false);
      expect(await secrets.replace(secretOf('none', 'new'), secretOf('none', 'old'))).toBe(false);
      const [read] = (await secrets.list(ours)).filter((each) => each.name === 'token');
      if (read === undefined) throw new Error('the secret is not there');
      expect(await secrets.replace(secretOf('token', 'resealed'), read)).toBe(true);
      expect(await secrets.get(ours, 'token')).toEqual(secretOf('token', 'resealed'));
      expect(await secrets.remove(theirs, 'token')).toBe(false);
      expect(await secrets.remove(ours, 'token')).toBe(true);
      expect(await secrets.remove(ours, 'token')).toBe(false);
      expect(await secrets.get(ours, 'token')).toBeNull();
    });
  });
}

export function apiKeysContract(name: string, make: () => Promise<UnderTest<ApiKeys>>): void {
  describe(`ApiKeys contract: ${name}`, () => {
    const opened = openedOnce(make);

    it('G4: a key is found by its hash, whole, and by nothing else', async () => {
      const apiKeys = await opened.get();
      const key: ApiKey = {
        id: `key_${freshTenant()}`,
        tenant: freshTenant(),
        name: 'laptop',
        keySha256: freshTenant(),
        scopes: ['read', 'threads:write'],
        createdAt: 1,
        expiresAt: null,
      };
      await apiKeys.insert(key);
      expect(await apiKeys.bySha256(key.keySha256)).toEqual(key);
      expect(await apiKeys.bySha256(key.id)).toBeNull();
      expect(await apiKeys.bySha256('')).toBeNull();
    });

    it('a use is noted, never an earlier one, and nothing of a key that is gone', async () => {
      const apiKeys = await opened.get();
      const tenant = freshTenant();
      const key: ApiKey = {
        ...{ id: `key_${tenant}`, tenant, name: 'laptop', keySha256: freshTenant(), scopes: ['read'] },
        ...{ createdAt: 1, expiresAt: null },
      };
      await apiKeys.insert(key);
      for (const at of [5, 9, 7]) await apiKeys.used(key.keySha256, at);
      await expect.poll(() => apiKeys.bySha256(key.keySha256)).toEqual({ ...key, lastUsedAt: 9 });
      expect(await apiKeys.list(tenant)).toEqual([{ ...key, lastUsedAt: 9 }]);
      await apiKeys.remove(tenant, key.id);
      await apiKeys.used(key.keySha256, 11);
      expect(await apiKeys.bySha256(key.keySha256)).toBeNull();
    });

    it('ends a key once: it is revoked, or given another end before that', async () => {
      const apiKeys = await opened.get();
      const tenant = freshTenant();
      const key: ApiKey = {
        ...{ id: `key_${tenant}`, tenant, name: 'laptop', prefix: 'dmk_1234', keySha256: freshTenant() },
        ...{ scopes: ['read'], agents: ['support'], createdAt: 1, expiresAt: null },
      };
      await apiKeys.insert(key);
      expect(await apiKeys.end(freshTenant(), key.id, { revokedAt: 3 })).toBe(false);
      expect(await apiKeys.end(tenant, key.id, { expiresAt: 7 })).toBe(true);
      expect(await apiKeys.bySha256(key.keySha256)).toEqual({ ...key, expiresAt: 7 });
      const ends = await Promise.all([3, 4, 5].map((at) => apiKeys.end(tenant, key.id, { revokedAt: at })));
      expect(ends.filter(Boolean)).toHaveLength(1);
      expect(await apiKeys.end(tenant, key.id, { expiresAt: 9 })).toBe(false);
      const revokedAt = [3, 4, 5][ends.indexOf(true)];
      expect(await apiKeys.list(tenant)).toEqual([{ ...key, expiresAt: 7, revokedAt }]);
    });

    it('what was derived from a key is found whole, and removed by exactly one of many', async () => {
      const apiKeys = await opened.get();
      const tenant = freshTenant();
      const code: ApiKey = {
        ...{ id: `ses_${tenant}`, tenant, name: 'laptop', keySha256: freshTenant(), scopes: ['read'] },
        ...{ createdAt: 1, expiresAt: 2, derived: { use: 'code', fromSha256: freshTenant() } },
      };
      await apiKeys.insert(code);
      expect(await apiKeys.bySha256(code.keySha256)).toEqual(code);
      const removals = await Promise.all(Array.from({ length: 8 }, () => apiKeys.remove(tenant, code.id)));
      expect(removals.filter((isRemoved) => isRemoved)).toHaveLength(1);
    });

    it('a tenant’s keys are listed and removed, and nobody else’s', async () => {
      const apiKeys = await opened.get();
      const tenant = freshTenant();
      const keyOf = (id: string, owner = tenant): ApiKey => ({
        ...{ id: `key_${id}_${owner}`, tenant: owner, name: id, keySha256: freshTenant() },
        ...{ scopes: ['read'], createdAt: 1, expiresAt: null },
      });
      const [first, second, foreign] = [keyOf('1'), keyOf('2'), keyOf('3', freshTenant())];
      for (const key of [first, second, foreign]) await apiKeys.insert(key);
      expect(await apiKeys.list(tenant)).toEqual([first, second]);
      expect(await apiKeys.remove(tenant, foreign.id)).toBe(false);
      expect(await apiKeys.remove(tenant, first.id)).toBe(true);
      expect(await apiKeys.remove(tenant, first.id)).toBe(false);
      expect(await apiKeys.list(tenant)).toEqual([second]);
      expect(await apiKeys.bySha256(first.keySha256)).toBeNull();
    });
  });
}
