// Tenants of a running system: each is a system of its own, whose key is the tenant's first.
import type { System } from '../e2e/conversation.ts';

export const platformKey = 'platform-key-of-the-specs';

/** No spec here is about the rate. */
const quotas = { requests_per_s: 100_000 };

export async function tenantOf(root: System, id: string): Promise<System> {
  const made = await root.request('POST', '/v1/tenants', { id, quotas }, { key: platformKey });
  if (made.status !== 201) throw new Error(`tenant: ${made.status} ${made.text}`);
  const { key } = made.json;
  return { ...root, key, request: (method, path, body, sent) => root.request(method, path, body, { key, ...sent }) };
}
