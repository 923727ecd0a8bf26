import { describe, expect, it } from 'vitest';
import { familyStep, type FamilyThread, leavingMs } from './family-step.ts';

const day = 86_400_000;
const now = 1_764_000_000_000;
const before = now - 30 * day;
const old = before - 1;

const threadOf = (fields: Partial<FamilyThread> = {}): FamilyThread => ({
  ...{ thread: 'thr_1', status: 'idle', updatedAt: fields.restingSince ?? old, leavingAt: null, restingSince: old },
  ...fields,
});

const stepOf = (threads: readonly Partial<FamilyThread>[], isNeeded = false) =>
  familyStep(threads.map(threadOf), { before, now, isNeeded });

describe('the next step of a family', () => {
  it('is a mark for one at rest, then its end, then a wait, then its removal', () => {
    expect(stepOf([{}, { status: 'closed' }])).toBe('mark');
    const leavingAt = now - 1_000;
    expect(stepOf([{ leavingAt }, { status: 'closed', leavingAt }])).toBe('end');
    const closed = { status: 'closed', leavingAt } as const;
    expect(stepOf([closed, closed])).toBe('wait');
    const gone = { status: 'closed', leavingAt: now - leavingMs } as const;
    expect(stepOf([gone, gone])).toBe('remove');
    expect(stepOf([gone, closed])).toBe('wait');
    expect(stepOf([{ ...gone, updatedAt: now - 1 }, gone])).toBe('wait'); // a message was refused just now
  });

  it('is none while one of its threads has been used since, or does something', () => {
    expect(stepOf([{}, { restingSince: before }])).toBe('stay');
    for (const status of ['opening', 'parked', 'thinking', 'waiting'] as const)
      expect(stepOf([{}, { status }])).toBe('stay');
    expect(stepOf([])).toBe('stay');
  });

  it('takes marks back from one that was woken, is needed, or is kept longer now', () => {
    const marked = { status: 'closed', leavingAt: now - leavingMs } as const;
    expect(stepOf([marked, { ...marked, restingSince: before }])).toBe('unmark');
    expect(stepOf([marked, { ...marked, status: 'thinking' }])).toBe('unmark');
    expect(stepOf([marked], true)).toBe('unmark');
    expect(stepOf([{}], true)).toBe('stay');
    const forEver = { before: Number.NEGATIVE_INFINITY, now, isNeeded: false };
    expect(familyStep([threadOf(marked)], forEver)).toBe('unmark');
    expect(familyStep([threadOf()], forEver)).toBe('stay');
  });

  it('is the mark again where a clock was set back, or a child is new', () => {
    const marked = { status: 'closed', leavingAt: now - leavingMs } as const;
    expect(stepOf([{ ...marked, leavingAt: now + day }])).toBe('mark');
    expect(stepOf([marked, { leavingAt: null }])).toBe('mark');
  });
});
