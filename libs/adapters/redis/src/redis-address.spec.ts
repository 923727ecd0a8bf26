import { describe, expect, it } from 'vitest';
import { redisAddress, redisUrlProblem } from './redis-address.ts';

const none = { username: undefined, password: undefined };

describe('the URL of Redis', () => {
  it('of one server is taken as it is', () => {
    expect(redisAddress('rediss://user:p%40ss@redis:6380/2')).toEqual({
      ...{ kind: 'server', url: 'rediss://user:p%40ss@redis:6380/2', isEncrypted: true },
    });
  });

  it('of Sentinels names them, the master, and both logins', () => {
    expect(
      redisAddress('redis+sentinel://app:p%40ss@one:26380,two,[::1]:5/prod?db=3&sentinelUser=s&sentinelPassword=%2F'),
    ).toEqual({
      kind: 'sentinels',
      nodes: [
        { host: 'one', port: 26_380 },
        { host: 'two', port: 26_379 },
        { host: '::1', port: 5 },
      ],
      ...{ master: 'prod', db: 3, isEncrypted: false },
      login: { username: 'app', password: 'p@ss' },
      sentinelLogin: { username: 's', password: '/' },
    });
  });

  it('of a cluster names nodes of it', () => {
    expect(redisAddress('rediss+cluster://:secret@a:7000,b')).toEqual({
      kind: 'cluster',
      nodes: [
        { host: 'a', port: 7_000 },
        { host: 'b', port: 6_379 },
      ],
      ...{ login: { username: undefined, password: 'secret' }, isEncrypted: true },
    });
    expect(redisAddress('redis+cluster://a')).toMatchObject({ login: none });
  });

  it.each([
    ['redis:6379', 'must be a redis://'],
    ['http://redis', 'must be a redis://'],
    ['redis:///', 'must be a redis://'],
    ['redis+sentinel://', 'must be a redis://'],
    ['redis+sentinel://a:1:2/m', 'must be a redis://'],
    ['redis+sentinel://a,,b/m', 'must be a redis://'],
    ['redis+cluster://a:70000', 'must be a redis://'],
    ['redis+sentinel://a:26379', 'must name the master'],
    ['redis+sentinel://a/m?database=1', 'may have these after the question mark: db'],
    ['redis+sentinel://a/m?db=x', 'db is a number'],
    ['redis+cluster://a,b/0', 'a Redis Cluster has one database'],
    ['redis://:a#b@redis:6379', 'not percent-encoded'],
    ['redis://:a/b@redis:6379', 'not percent-encoded'],
    ['redis://app:1/b@redis:6379', 'not percent-encoded'],
    ['rediss://:a%b@redis:6379', 'not percent-encoded'],
    ['redis+cluster://:a@b@redis', 'not percent-encoded'],
    ['redis+sentinel://:a/b@redis/m', 'not percent-encoded'],
  ])('A1 %s is refused without repeating it', (url, sentence) => {
    const problem = redisUrlProblem(url);
    expect(problem).toContain(sentence);
    expect(redisUrlProblem(url.replace('://', '://:canary@'))).not.toContain('canary');
    expect(() => redisAddress(url)).toThrow(RangeError);
  });

  it.each(['redis://redis', 'rediss://:p@redis:6380', 'redis+sentinel://a/m', 'redis+cluster://a:1,b:2'])(
    '%s has no problem',
    (url) => expect(redisUrlProblem(url)).toBeNull(),
  );
});
