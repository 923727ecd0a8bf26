import { Fault, type KeyManagement } from '@dormouse/ports';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { holdKeys } from './held-keys.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const hourMs = 3_600_000;

function rig() {
  const logged: string[] = [];
  const log = (event: string): void => void logged.push(event);
  const answers = { with: null as Fault | null, count: 0 };
  const kms: KeyManagement = {
    keyId: 'vault transit/dormouse',
    wrap: () => Promise.reject(new Error('is not asked for')),
    unwrap: async () => {
      answers.count += 1;
      if (answers.with !== null) throw answers.with;
      return new Uint8Array(32);
    },
  };
  const logger = { info: log, warn: log, error: log };
  const held = holdKeys({ kms, wrapped: 'vault:v1:x', heldMs: 24 * hourMs, logger, now: () => Date.now() });
  let over: string | null = null;
  void held.over.then((reason) => (over = reason));
  return { answers, logged, held, over: () => over };
}

describe('keys that a key management has unwrapped', () => {
  it('H2 are good for as long as it unwraps them', async () => {
    const { answers, over, logged } = rig();
    await vi.advanceTimersByTimeAsync(100 * hourMs);
    expect([over(), answers.count, logged]).toEqual([null, 100, []]);
  });

  it('H1 are used on while it is away for less than the time, which is told once', async () => {
    const { answers, over, logged } = rig();
    answers.with = new Fault('UNAVAILABLE', 'it is away');
    await vi.advanceTimersByTimeAsync(23 * hourMs);
    answers.with = null;
    await vi.advanceTimersByTimeAsync(23 * hourMs);
    expect([over(), logged]).toEqual([null, ['kms_unanswered', 'kms_answers']]);
  });

  it.each(['UNAVAILABLE', 'KMS_REFUSED'])('H2 are over after the time: %s', async (code) => {
    const { answers, over } = rig();
    await vi.advanceTimersByTimeAsync(10 * hourMs);
    answers.with = new Fault(code, 'no');
    await vi.advanceTimersByTimeAsync(23 * hourMs);
    expect(over()).toBeNull();
    await vi.advanceTimersByTimeAsync(2 * hourMs);
    expect(over()).toMatch(/^KMS_REFUSED: .* 86400 s .* vault transit\/dormouse unwraps them\.$/);
  });

  it('asks nothing after its stop', async () => {
    const { answers, held, over } = rig();
    held.stop();
    answers.with = new Fault('UNAVAILABLE', 'no');
    await vi.advanceTimersByTimeAsync(100 * hourMs);
    expect([answers.count, over()]).toEqual([0, null]);
  });
});
