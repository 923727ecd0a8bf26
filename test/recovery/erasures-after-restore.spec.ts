// What the how-to of erasures says of a restore: a backup of before brings the erased back, and `erasures apply` erases
// it again from the list that is kept apart. The real programs, real files, a search through all bytes.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { connectionFlags, runCli } from '../cli/cli-process.ts';
import { foundIn } from '../e2e/bytes-of-directory.ts';
import { canaryConversation } from '../e2e/contents-at-rest.ts';
import { eventsOf, eventually } from '../e2e/conversation.ts';
import { driveToolServer } from '../e2e/driven-tool-server.ts';
import { cleanUp, type Json, scratchDirectory, type Standalone, startStandalone } from '../e2e/standalone-process.ts';

afterAll(cleanUp);

const credentialsOf = async (at: Standalone, user: string): Promise<readonly Json[]> =>
  (await at.request('GET', `/v1/users/${user}/credentials`)).json.data;

async function erased(at: Standalone, body: object): Promise<Json> {
  const { id } = (await at.request('POST', '/v1/erasures', body)).json;
  return eventually(async () => {
    const { json } = await at.request('GET', `/v1/erasures/${id}`);
    return json.state === 'done' && json;
  });
}

it('a restored backup has what was erased after it, until the erasures are applied: then no byte of it is left', async () => {
  const at = await startStandalone();
  const gone = await canaryConversation(at, 'usr');
  const alone = await canaryConversation(at, 'thr');
  const kept = await canaryConversation(at, 'kept');
  const user = 'label-usr-user';
  const inAudit = [user]; // as the target of `credential.set`: rows of the audit are never changed
  const tools = await driveToolServer(at);
  const put = await at.request('PUT', `/v1/users/${user}/credentials/${tools.name}`, { type: 'bearer', value: 'v' });
  expect(put.status, put.text).toBeLessThan(300);
  expect(await credentialsOf(at, user)).toHaveLength(1);
  const scratch = await scratchDirectory();
  const [copy, list] = [join(scratch, 'copy'), join(scratch, 'erasures.ndjson')];
  expect(await runCli(['backup', copy, ...connectionFlags(at)])).toMatchObject({ code: 0 });

  const [ofUser] = [await erased(at, { user_id: user }), await erased(at, { thread_id: alone.thread })];
  expect(await runCli(['erasures', 'export', list, ...connectionFlags(at)])).toMatchObject({ code: 0 });
  expect(readFileSync(list, 'utf8')).not.toContain(user);
  await at.stop();
  await tools.close();

  const restored = await startStandalone({ dataDir: copy });
  expect(foundIn(copy, gone)).toEqual(gone.labels); // it is back
  expect(await credentialsOf(restored, user)).toHaveLength(1);
  expect(JSON.stringify(await eventsOf(restored, gone.thread))).toContain('canary-usr-message');
  const apply = () => runCli(['erasures', 'apply', list, '--json', ...connectionFlags(restored)]);
  const applied = await apply();
  expect(applied).toMatchObject({ code: 0 });
  expect(JSON.parse(applied.stdout)).toEqual({ applied: 3, absent: 0 }); // the user, the user's thread, the other one
  const erasures = await eventually(async () => {
    const { data } = (await restored.request('GET', '/v1/erasures')).json;
    return data.every(({ state }: Json) => state === 'done') && data;
  });
  expect(erasures.map(({ subject }: Json) => subject)).toContain(ofUser.subject);
  expect((await apply()).stdout).toBe(applied.stdout); // it may be repeated
  for (const { thread } of [gone, alone])
    expect(new Set((await eventsOf(restored, thread)).map(({ type }) => type))).toEqual(new Set(['content_erased']));
  expect(JSON.stringify(await eventsOf(restored, kept.thread))).toContain('canary-kept-message');
  expect(await credentialsOf(restored, user)).toEqual([]);
  expect([...foundIn(copy, gone), ...foundIn(copy, alone)]).toEqual(inAudit);
  expect(await runCli(['verify', '--all', ...connectionFlags(restored)])).toMatchObject({ code: 0 });
  expect(await restored.stop()).toBe(0);
  expect([...foundIn(copy, gone), ...foundIn(copy, alone)]).toEqual(inAudit);
});
