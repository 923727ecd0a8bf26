import { Fault } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { HttpProblem, problemJson, retryAfterS, toProblem } from './problem.ts';

describe('problems', () => {
  it('say what happened, where, and which page explains it', () => {
    const problem = new HttpProblem('INVALID_BODY', 'No.', { errors: [{ pointer: '/a', detail: 'must be a string' }] });
    expect(JSON.parse(problemJson(problem, 'req-1'))).toEqual({
      type: '/errors/INVALID_BODY',
      title: 'Cannot be used',
      status: 422,
      detail: 'No.',
      instance: 'req-1',
      code: 'INVALID_BODY',
      errors: [{ pointer: '/a', detail: 'must be a string' }],
      trace_id: null,
    });
  });

  it('keep a fault’s own code where it has a page and a status, and its wish when to come back', () => {
    const known = toProblem(new Fault('STATE_UNAVAILABLE', 'x', { retryAfterMs: 4_200 }));
    expect([known.code, known.status, retryAfterS(known)]).toEqual(['STATE_UNAVAILABLE', 503, 5]);
    const large = toProblem(new Fault('RECORD_TOO_LARGE', 'x')); // which no later attempt changes
    expect([large.code, large.status, retryAfterS(large)]).toEqual(['RECORD_TOO_LARGE', 413, null]);
    expect(toProblem(new Fault('SOMETHING_ELSE', 'x'))).toMatchObject({ code: 'UNAVAILABLE', status: 503 });
    expect(toProblem(new Fault('MODEL_FAILED', 'x'))).toMatchObject({ code: 'UNAVAILABLE' });
  });

  it.each([
    ['our own mistakes', new Error('secret at /home/x')],
    ['damage, and do not ask for a repetition', new Fault('DATABASE_CORRUPT', 'the document secret')],
  ])('tell nothing of %s', (_, thrown) => {
    const problem = toProblem(thrown);
    expect(retryAfterS(problem)).toBeNull();
    expect([problem.status, problem.code]).toEqual([500, 'INTERNAL']);
    expect(problemJson(problem, 'r')).not.toContain('secret');
  });
});
