// What the disk of a standalone process holds of a login: never its URL in the clear, and nothing after the result.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import { eventually, openThread, scriptedAgent, untilEvent, untilStatus } from './conversation.ts';
import { driveToolServer, toolCall } from './driven-tool-server.ts';
import { cleanUp, type Standalone, startStandalone } from './standalone-process.ts';

afterAll(cleanUp);

const secret = 'very-secret-state-at-rest';

/** Everything under the data directory, as bytes. */
const bytesOnDisk = ({ dataDir }: Standalone): string =>
  readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dataDir, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n');

/** Rows of logins that are still kept. */
function keptLogins({ dataDir }: Standalone): number {
  const file = readdirSync(dataDir).find((name) => name.endsWith('.db'));
  const database = new DatabaseSync(join(dataDir, file ?? 'none'), { readOnly: true });
  const row = database.prepare('SELECT count(*) AS kept FROM logins').get();
  database.close();
  return Number(row?.['kept']);
}

describe('a login', () => {
  it('R88 is on disk without its URL in the clear, and gone after the result', async () => {
    const at = await startStandalone();
    const tools = await driveToolServer(at);
    const script = [[toolCall('work')], [{ text: 'done' }]];
    const thread = await openThread(at, await scriptedAgent(at, script, { tool_servers: [tools.name] }));
    await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' });
    const call = await tools.invocation(0);
    await tools.send(call, { type: 'oauth', auth_url: `https://login.example/?state=${secret}` });
    await untilEvent(at, thread, 'oauth_requested');
    expect(keptLogins(at)).toBe(1);
    expect(bytesOnDisk(at)).toContain(thread); // the search works
    expect(bytesOnDisk(at)).not.toContain(secret);
    await tools.send(call, { type: 'tool_result', text: 'logged in' });
    await untilStatus(at, thread, 'idle');
    await eventually(async () => keptLogins(at) === 0);
    await at.stop();
    await tools.close();
    expect(bytesOnDisk(at)).not.toContain(secret);
    expect(at.output()).not.toContain(secret);
  });
});
