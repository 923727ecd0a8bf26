import { tenantId } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { message } from '../spec/processor-rig.ts';
import { mergeInputs } from './merge-inputs.ts';
import { answerDeliveries, deliveredItem, type InputItem, isWithdrawn } from './slice-item.ts';

function item(id: string, log: string[], name = id): InputItem {
  const made = deliveredItem({
    what: 'input',
    tenant: tenantId('acme'),
    thread: 't',
    input: message(id),
    trace: null,
    decided: (version) => void log.push(`${name} decided ${version}`),
    release: () => void log.push(`${name} released`),
  });
  if (made.what !== 'input') throw new Error('not an input');
  return made;
}

describe('V8 equal inputs', () => {
  it('become one, in the order of first arrival, with the deliveries of all', () => {
    const log: string[] = [];
    const merged = mergeInputs([item('a', log, 'a1'), item('b', log), item('a', log, 'a2')]);
    expect(merged.map((one) => one.input.id)).toEqual(['c:a', 'c:b']);
    expect(merged[0]?.deliveries.length).toBe(2);
    merged[0]?.hold.drop();
    expect(log).toEqual(['a1 released', 'a2 released']);
  });

  it('may be in the log when one of them may', () => {
    const again = item('a', []);
    again.mayBeStored = true;
    expect(mergeInputs([item('a', []), again]).map((one) => one.mayBeStored)).toEqual([true]);
  });

  it.each([0, 1])('are each answered once, also beside one that was answered and is paid again', (answered) => {
    const log: string[] = [];
    const items = [item('a', log, 'a1'), item('a', log, 'a2')];
    for (const one of items.slice(answered, answered + 1)) answerDeliveries(one, 7);
    const [merged] = mergeInputs(items);
    if (merged === undefined) throw new Error('nothing');
    expect(isWithdrawn(merged)).toBe(false);
    answerDeliveries(merged, 7);
    expect(log.toSorted()).toEqual(['a1 decided 7', 'a2 decided 7']);
  });

  it('leave a list without equals as it is', () => {
    const items = [item('a', []), item('b', [])];
    expect(mergeInputs(items)).toBe(items);
  });
});
