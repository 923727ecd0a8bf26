import { describe, expect, it } from 'vitest';
import { droppedRefusals, refusingIn } from './returned-refusal.ts';
import { filesBelow, isSpec } from './source-file.ts';

const heart = filesBelow('libs/thread/src').filter(({ path }) => /\/(?:rules\/|decide)/.test(path) && !isSpec(path));
const rules = `
  function take(draft: Draft): StableRefusal | void { if (!draft.thread.isOpen) return 'NOT_PENDING'; }
  function queue(draft: Draft): void { if (isFull(draft)) return refuse(draft); draft.emit(queued); }
`;

describe('a refusal', () => {
  it('is returned by every rule that makes or gets one', () => {
    expect(refusingIn(heart).size).toBeGreaterThan(25);
    expect(droppedRefusals(heart)).toEqual([]);
  });

  it.each([
    `function end(draft: Draft): void { take(draft); }`,
    `function end(draft: Draft): void { if (isLate(draft)) take(draft); else wake(draft); }`,
    `function end(draft: Draft): void { if (isLate(draft)) queue(draft); wake(draft); }`,
    `function end(draft: Draft): void { if (isLate(draft)) refuse(draft); wake(draft); }`,
    `function end(draft: Draft): void { isLate(draft) ? take(draft) : wake(draft); }`,
    `function end(draft: Draft): void { void take(draft); }`,
    `function end(draft: Draft): StableRefusal | void { if (isLate(draft)) 'NOT_PENDING'; wake(draft); }`,
  ])('is not dropped as in %s', (text) => {
    expect(droppedRefusals([{ path: 'libs/thread/src/rules/a.ts', text: rules + text }])).toHaveLength(1);
  });

  it('may be returned, chosen and asked for', () => {
    const text = `
      const end = (draft: Draft) => take(draft);
      function close(draft: Draft): void { return isLate(draft) ? take(draft) : queue(draft); }
      function decide(draft: Draft): Decision { const refusal = take(draft); return decided(draft, refusal); }
    `;
    expect(droppedRefusals([{ path: 'libs/thread/src/rules/a.ts', text: rules + text }])).toEqual([]);
  });
});
