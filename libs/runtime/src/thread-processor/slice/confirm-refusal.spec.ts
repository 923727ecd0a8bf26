// V4 is masked by V1 in most interleavings, so that a search rarely finds it broken: these cases are directed.
import { createManualClock, createMemoryWorld, type Gate } from '@dormouse/adapter-memory';
import type { ThreadLog } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { sealCommit } from '../../log/envelope.ts';
import { key } from '../spec/processor-rig.ts';
import { confirmRefusal } from './confirm-refusal.ts';

const refused = {
  type: 'RequestRefused',
  requestId: 'r',
  request: 'x',
  code: 'x',
  detail: '',
  turnId: '',
  cause: { kind: 'request', id: 'r' },
} as const;

async function append(log: ThreadLog, version: number, input: string): Promise<void> {
  const commit = sealCommit({
    key,
    version,
    inputs: [input],
    at: 1,
    nonce: input,
    trace: null,
    prev: '',
    events: [refused],
    effects: [],
  });
  expect(await log.append([{ commit, owes: false }])).toEqual(['appended']);
}

function world(gate?: Gate): ThreadLog {
  return createMemoryWorld({ clock: createManualClock(), ...(gate === undefined ? {} : { gate }) }).ports('p1').log;
}

describe('V4 a refusal without a commit', () => {
  it('is final when the head is the version decided on and the log does not know the input', async () => {
    const log = world();
    await append(log, 0, 'a');
    expect(await confirmRefusal(log, key, 1, 'b')).toEqual({ refusal: 'final' });
  });

  it('is none when the input was decided before', async () => {
    const log = world();
    await append(log, 0, 'a');
    expect(await confirmRefusal(log, key, 1, 'a')).toMatchObject({ refusal: 'decided_before', commit: { version: 0 } });
  });

  it('is judged again when the thread has moved, even if the log does not know the input', async () => {
    const log = world();
    await append(log, 0, 'a');
    await append(log, 1, 'b');
    expect(await confirmRefusal(log, key, 1, 'c')).toEqual({ refusal: 'stale' });
  });

  it('reads the head first: a commit that lands between the two reads is found by the second', async () => {
    let landing: (() => Promise<void>) | null = null;
    const log = world({
      pass: async (_node, operation, apply) => {
        const answer = apply();
        if (operation.name === 'log.read' && landing !== null) {
          const land = landing;
          landing = null;
          await land();
        }
        return answer;
      },
    });
    await append(log, 0, 'a');
    landing = () => append(log, 1, 'late');
    expect(await confirmRefusal(log, key, 1, 'late')).toMatchObject({ refusal: 'decided_before' });
  });
});
