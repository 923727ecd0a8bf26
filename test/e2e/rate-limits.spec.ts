// A tenant that goes too fast gets a 429, with the time to wait.
import { afterAll, describe, expect, it } from 'vitest';
import { cleanUp, startStandalone } from './standalone-process.ts';

afterAll(cleanUp);

describe('a tenant that goes too fast', () => {
  it('R43 gets 429 with Retry-After, RateLimit and RateLimit-Policy, and goes on after the wait', async () => {
    const at = await startStandalone({ env: { DORMOUSE_TENANT_REQUESTS_PER_S: '5' } });
    const ask = (): Promise<Response> =>
      fetch(`${at.url}/v1/threads`, { headers: { authorization: `Bearer ${at.key}` } });
    const answers: Response[] = [];
    for (let sent = 0; sent < 30; sent++) answers.push(await ask());
    const refused = answers.find(({ status }) => status === 429);
    expect(answers[0]?.headers.get('ratelimit-policy')).toBe('"tenant";q=10;w=2');
    expect(answers[0]?.headers.get('ratelimit')).toMatch(/^"tenant";r=\d+;t=0$/);
    expect(await refused?.json()).toMatchObject({ code: 'RATE_LIMITED', status: 429 });
    expect(refused?.headers.get('retry-after')).toBe('1');
    expect(refused?.headers.get('ratelimit')).toMatch(/^"tenant";r=0;t=1$/);
    expect((await fetch(`${at.url}/healthz`)).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect((await ask()).status).toBe(200);
    expect(await at.stop()).toBe(0);
  });

  it('no limit is set standalone by itself', async () => {
    const at = await startStandalone();
    const answer = await fetch(`${at.url}/v1/threads`, { headers: { authorization: `Bearer ${at.key}` } });
    expect(answer.headers.get('ratelimit')).toBeNull();
    expect(await at.stop()).toBe(0);
  });
});
