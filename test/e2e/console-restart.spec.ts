// The link that a standalone process prints, and sessions over a restart.
import { afterAll, describe, expect, it } from 'vitest';
import { cleanUp, type Standalone, startStandalone } from './standalone-process.ts';

afterAll(cleanUp);

const printedLink = ({ output }: Standalone): string => /^\s+(http\S+\/\?code=\S+)$/m.exec(output())?.[1] ?? '';

async function cookieFrom(link: string): Promise<string> {
  const answer = await fetch(link, { redirect: 'manual' });
  expect(answer.status).toBe(303);
  return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
}

describe('a standalone process', () => {
  it('prints a link that signs in, another one at each start, and remembers who is signed in', async () => {
    const at = await startStandalone({ env: { DORMOUSE_LOG_LEVEL: 'info' } });
    const link = printedLink(at);
    const cookie = await cookieFrom(link);
    const headers = { cookie, 'sec-fetch-site': 'same-origin' };
    expect((await at.request('GET', '/v1/session', undefined, { key: null, headers })).status).toBe(200);
    expect(at.output().split(new URL(link).search)).toHaveLength(2); // printed, and not logged
    expect(await at.stop()).toBe(0);
    const again = await startStandalone({ dataDir: at.dataDir, port: at.port });
    expect((await again.request('GET', '/v1/session', undefined, { key: null, headers })).status).toBe(200);
    expect((await fetch(link, { redirect: 'manual' })).status).toBe(410);
    expect(printedLink(again)).not.toBe(link);
    await cookieFrom(printedLink(again));
    await again.stop();
  });
});
