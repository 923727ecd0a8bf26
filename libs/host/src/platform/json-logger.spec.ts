import { describe, expect, it } from 'vitest';
import { redacted } from './json-logger.ts';

describe('log fields', () => {
  it('I-23 lose whatever could be a credential', () => {
    const fields = {
      url: 'POST /callback/AbC-123_x?y',
      page: 'GET /answer/dal_a.b.c',
      stream: '/events?access_token=dtt_a.b&x=1',
      header: 'Bearer dmk_12',
      hook: 'POST /hooks/issues/o7fW_x-1 of github',
      route: '/hooks/{source}/{token}',
      reason: 'no secret "whsec_MfKQ/r8=" for dmk_ab12, nor dal_a.b.c',
      count: 3,
    };
    expect(redacted(fields)).toEqual({
      url: 'POST /callback/[redacted]',
      page: 'GET /answer/[redacted]',
      stream: '/events?access_token=[redacted]&x=1',
      header: 'Bearer [redacted]',
      hook: 'POST /hooks/issues/[redacted] of github',
      route: '/hooks/{source}/{token}',
      reason: 'no secret "whsec_[redacted]" for dmk_[redacted] nor dal_[redacted]',
      count: 3,
    });
  });
});
