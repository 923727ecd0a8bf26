// The files of one process: keys readable for their owner only, and no credential that was shown once. (API:
// access.spec.ts)
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openThread } from './conversation.ts';
import { cleanUp, type Standalone, startStandalone } from './standalone-process.ts';

const bootstrapKey = 'a-bootstrap-key-of-some-length';

let at: Standalone;
beforeAll(async () => {
  at = await startStandalone({ env: { DORMOUSE_BOOTSTRAP_KEY: bootstrapKey } });
});
afterAll(cleanUp);

async function expectNotOnDisk(text: string): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 200)); // until what was answered is on disk
  for (const file of ['dormouse.db', 'dormouse.db-wal'])
    expect((await readFile(join(at.dataDir, file))).includes(text)).toBe(false);
}

describe('on the disk of one process', () => {
  it('keys are in files that only their owner reads', async () => {
    for (const file of ['key', 'master-key']) expect((await stat(join(at.dataDir, file))).mode & 0o777).toBe(0o600);
  });

  it('a key from the environment needs no file', async () => {
    expect((await at.request('GET', '/v1/agents', undefined, { key: bootstrapKey })).status).toBe(200);
    await expectNotOnDisk(bootstrapKey);
  });

  it('there is no key and no token that was shown once', async () => {
    const thread = await openThread(at);
    const repeatable = { headers: { 'idempotency-key': 'shown-once' } }; // its answer is kept
    const wanted = { name: 'kept', scopes: ['read'] };
    const { key } = (await at.request('POST', '/v1/api-keys', wanted, repeatable)).json;
    const path = `/v1/threads/${thread}/tokens`;
    const { token } = (await at.request('POST', path, { can: ['read'], ttl_s: 60 }, repeatable)).json;
    await expectNotOnDisk(key);
    await expectNotOnDisk(token);
  });

  it('there is no secret in clear', async () => {
    const value = 'canary-secret-value';
    const put = await at.request('PUT', '/v1/secrets/llm', { value, origins: ['https://models.example'] });
    expect(put.status).toBe(204);
    await expectNotOnDisk(value);
  });
});
