import { describe, expect, it } from 'vitest';
import invocation from '../fixtures/invocation.json' with { type: 'json' };
import { encodeInvocation, parseInvocation } from './invocation.ts';
import type { ToolInvocation } from './invocation.ts';

const call: ToolInvocation = {
  operation: 'get_weather',
  arguments: { city: 'Ulm' },
  id: 'call_1',
  callbackUrl: 'https://agent.example.com/callback/t',
  groupId: 'thr_1',
};

describe('invocation', () => {
  it.each<{ title: string; wire: unknown; code: ToolInvocation }>(invocation.valid)('$title', ({ wire, code }) => {
    expect(encodeInvocation(code)).toStrictEqual(wire);
    expect(parseInvocation(wire)).toStrictEqual({ ok: true, invocation: code });
  });

  it.each<{ title: string; wire: unknown; pointers: string[] }>(invocation.invalid)(
    '$title: refused',
    ({ wire, pointers }) => {
      const parsed = parseInvocation(wire);
      expect(parsed.ok ? [] : parsed.problems.map((problem) => problem.pointer)).toStrictEqual(pointers);
    },
  );

  it('T9 T13 ids that a tool server receives are opaque: of any length, and an empty `call_id` too', () => {
    const id = 'i'.repeat(5_000);
    const wire = { ...encodeInvocation(call), id, group_id: id, call_id: '', thread_ancestors: [id], user_id: null };
    const invocation = { ...call, id, groupId: id, callId: '', threadAncestors: [id] };
    expect(parseInvocation(wire)).toStrictEqual({ ok: true, invocation });
    expect(() => encodeInvocation({ ...call, id })).toThrow('id');
  });

  it('R5 equal invocations have equal bytes, whatever the order of their fields', () => {
    const reversed = Object.fromEntries(Object.entries(call).toReversed()) as ToolInvocation;
    expect(JSON.stringify(encodeInvocation(reversed))).toBe(
      JSON.stringify(encodeInvocation({ ...call, userId: undefined })),
    );
  });

  it('R12 a root thread lacks the key, and an empty list is never sent', () => {
    expect(encodeInvocation(call)).not.toHaveProperty('thread_ancestors');
    expect(() => encodeInvocation({ ...call, threadAncestors: [] })).toThrow('thread_ancestors');
  });

  it('R2 arguments are handed over by identity', () => {
    expect(encodeInvocation(call).arguments).toBe(call.arguments);
  });

  it('R7 R105 a field or an operation that RAP does not know never leaves', () => {
    const extra = { ...call, apiKey: 'secret' };
    expect(() => encodeInvocation(extra)).toThrow('unrecognized_keys');
    expect(() => encodeInvocation({ ...call, operation: 'get weather' })).toThrow('operation');
  });

  it('T9 a tool server tolerates null, extra fields and unknown operations', () => {
    const wire = { ...encodeInvocation(call), operation: 'no such tool', call_id: null, thread_ancestors: null, x: 1 };
    expect(parseInvocation(wire)).toStrictEqual({ ok: true, invocation: { ...call, operation: 'no such tool' } });
  });
});
