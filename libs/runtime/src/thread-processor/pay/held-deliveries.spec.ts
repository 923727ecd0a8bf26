import { tenantId, type InputDelivery } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { Hold } from './held-deliveries.ts';
import { message } from '../spec/processor-rig.ts';

function delivery(released: string[], name: string): InputDelivery {
  const release = (): void => void released.push(name);
  return {
    what: 'input',
    tenant: tenantId('acme'),
    thread: 't',
    input: message(name),
    trace: null,
    decided: () => {},
    release,
  };
}

function holds(): { released: string[]; hold: (name: string) => Hold } {
  const released: string[] = [];
  return { released, hold: (name) => new Hold([delivery(released, name)]) };
}

describe('a held delivery', () => {
  it('V2 is released when its last holder drops it, and not before', () => {
    const { released, hold } = holds();
    const a = hold('a');
    a.retain();
    a.drop();
    expect(released).toEqual([]);
    a.drop();
    expect(released).toEqual(['a']);
    expect(a.isOpen).toBe(false);
  });

  it('V1 passes from a superseded completion to the input that superseded it', () => {
    const { released, hold } = holds();
    const asked = hold('asked');
    const completion = new Hold();
    completion.absorb(asked.retain());
    asked.drop(); // the slice that asked is done
    const superseding = hold('superseding');
    superseding.absorb(completion);
    expect(released).toEqual([]);
    superseding.drop();
    expect(released.sort()).toEqual(['asked', 'superseding']);
  });

  it('keeps waiting for another holder of what it absorbed', () => {
    const { released, hold } = holds();
    const asked = hold('asked');
    asked.retain(); // a receipt that is not handled yet
    const later = hold('later');
    later.absorb(asked);
    later.drop();
    expect(released).toEqual(['later']);
    asked.drop();
    expect(released).toEqual(['later', 'asked']);
  });

  it('releases each delivery of a chain of ten thousand completions once, without a deep chain', () => {
    const { released, hold } = holds();
    let completion = new Hold();
    completion.absorb(hold('root'));
    for (let turn = 0; turn < 10_000; turn++) {
      const answer = hold(`m${turn}`);
      answer.absorb(completion);
      completion = new Hold();
      completion.absorb(answer.retain());
      answer.drop();
    }
    expect(released).toEqual([]);
    completion.drop();
    expect(new Set(released).size).toBe(10_001);
    expect(released.length).toBe(10_001);
  });

  it('refuses to be dropped more often than it is held, or held after its release', () => {
    const { hold } = holds();
    const a = hold('a');
    a.drop();
    expect(() => a.drop()).toThrow('more often');
    expect(() => a.retain()).toThrow('released');
  });
});
