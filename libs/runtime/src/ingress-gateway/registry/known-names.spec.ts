import { tenantId } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { defaultLimits, defaultPolicies } from '@dormouse/thread';
import { key, ingressRig, type IngressRig } from '../spec/ingress-rig.ts';

const model = {
  ...{ provider: 'demo', name: '', baseUrl: null, apiKeySecret: null, contextWindowTokens: 1_000 },
  ...{ outputTokensMax: null, images: false, parameters: {} },
};
const agentWith = (toolServers: readonly string[]) => ({
  ...{ instructions: '', model, toolServers, policies: defaultPolicies, limits: defaultLimits },
});
const server = (name: string) => ({
  ...{ name, baseUrl: 'http://tools', endpointOverride: null, auth: null, forwardUserId: false },
  ...{ trustAnnotations: false, pinnedSha256: null },
});
const numbered = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `n${String(index).padStart(2, '0')}`);

/** The problems of a thread of this agent, as clients get them. */
async function opened(at: IngressRig, agent: string): Promise<unknown> {
  const wanted = { agent, agentVersion: null, userId: null, title: null, externalId: null, ifExists: null };
  const origin = { tenant: key.tenant, method: 'POST', path: '/v1/threads', idempotencyKey: 'k' };
  const answer = await at.ingress.threads.open(key.tenant, { ...wanted, metadata: {}, message: null }, origin);
  return answer.ok ? null : answer.refusal.errors;
}

describe('a name that nothing has', () => {
  it.each([
    [[], 'there is none yet'],
    [['helper'], 'there is helper'],
    [['trader', 'helper'], 'there are helper and trader'],
    [['c', 'b', 'a'], 'there are a, b and c'],
    [numbered(10), 'there are n00, n01, n02, n03, n04, n05, n06, n07, n08 and n09'],
    [numbered(13), 'there are n00, n01, n02, n03, n04, n05, n06, n07, n08, n09 and 3 more'],
    [numbered(60), 'there are n00, n01, n02, n03, n04, n05, n06, n07, n08, n09 and more than 40 more'],
  ])('is said with the agents that there are: %j', async (names, there) => {
    const at = ingressRig();
    for (const name of names) await at.ingress.agents.create(key.tenant, name, agentWith([]));
    await at.ingress.agents.create(tenantId('others'), 'hidden', agentWith([]));
    const detail = `no agent has the name "helpr"; ${there}`;
    expect(await opened(at, 'helpr')).toEqual([{ pointer: '/agent', detail }]);
  });

  it('is said at its place with the tool servers that there are', async () => {
    const at = ingressRig();
    for (const name of ['mail', 'stocks']) await at.ingress.toolServers.create(key.tenant, server(name));
    const answer = await at.ingress.agents.create(key.tenant, 'helper', agentWith(['mail', 'stoks']));
    const detail = 'no tool server has the name "stoks"; there are mail and stocks';
    expect(answer).toMatchObject({ ok: false, refusal: { errors: [{ pointer: '/tool_servers/1', detail }] } });
  });
});
