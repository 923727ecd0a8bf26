import { expect, it } from 'vitest';
import { mongoUrlProblem } from './url-problem.ts';

it.each(['p@ss', 'p/ss', 'p/@ss', 'p#ss', 'p%ss', 'p:ss@'])(
  'U1 a password as open as %s is refused, not repeated',
  (open) => {
    const problem = mongoUrlProblem(`mongodb://canary:${open}@mongo-0:27017,mongo-1:27017/dormouse?replicaSet=rs0`);
    expect(problem).toContain('not percent-encoded');
    expect(problem).not.toContain('canary');
    expect(problem).not.toContain('ss@');
  },
);

it.each([
  'mongodb://mongo',
  'mongodb://user:p%40ss%2Fw%3A@mongo-0:27017,mongo-1:27017/dormouse?replicaSet=rs0',
  'mongodb://user:secret@mongo:27017?tls=true',
])('%s has no problem', (url) => expect(mongoUrlProblem(url)).toBeNull());
