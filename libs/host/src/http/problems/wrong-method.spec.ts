import { describe, expect, it } from 'vitest';
import { allowedAt, noRoute } from './wrong-method.ts';

describe('a path that no route takes', () => {
  it.each([
    ['/v1/agents', ['GET', 'HEAD', 'POST']],
    ['/v1/agents/assistant', ['DELETE', 'GET', 'HEAD', 'PATCH']],
    ['/v1/threads/thr_1/messages', ['GET', 'HEAD', 'POST']],
    ['/v1/threads/thr_1/retry', ['POST']],
    ['/openapi.json', ['GET', 'HEAD']],
    ['/docs', ['GET', 'HEAD']],
    ['/docs/threads', ['GET', 'HEAD']],
    ['/openapiXjson', []],
    ['/v1/agents/', []],
    ['/v1/nothing', []],
  ])('W1 %s takes %j', (path, methods) => {
    expect(allowedAt(path)).toEqual(methods);
  });

  it('is a wrong method where another one is right, whatever the query', () => {
    const problem = noRoute('PUT', '/v1/agents?x=1');
    expect(problem).toMatchObject({ status: 405, code: 'METHOD_NOT_ALLOWED' });
    expect(problem.about.headers).toEqual({ allow: 'GET, HEAD, POST' });
    expect(noRoute('PUT', '/v1/nothing')).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });
});
