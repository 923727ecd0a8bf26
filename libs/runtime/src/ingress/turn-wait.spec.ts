import type { ThreadLog } from '@dormouse/ports';
import { settle } from '@dormouse/adapter-memory';
import type { ThreadEvent } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { key, spoken, stage, type Stage } from './spec/stage.ts';
import { createTurnWait } from './turn-wait.ts';

const posted = { id: 'msg_hi', inputId: 'c:hi', mayBeOld: false };

const answer: ThreadEvent = {
  type: 'CompletionRecorded',
  completionId: 'cmp_1',
  message: { role: 'assistant', text: 'hello', calls: [] },
  final: true,
  usage: { inputTokens: 1, outputTokens: 1 },
  model: 'demo',
} as unknown as ThreadEvent;

/** A whole turn, as the processor of another process writes it. */
async function turn(at: Stage): Promise<void> {
  await at.commit(key, [{ ...spoken('hi'), messageId: posted.id } as ThreadEvent], [posted.inputId]);
  await at.commit(key, [answer], ['m:cmp_1']);
}

/** Where `findByInputs` is answered, and the turn happens before the answer is read. */
const turnAfterLookup = (at: Stage): ThreadLog => ({
  ...at.ports.log,
  findByInputs: async (of, inputs) => {
    const found = await at.ports.log.findByInputs(of, inputs);
    await turn(at);
    return found;
  },
});

describe('waiting for a turn', () => {
  it('Y1 sees a turn that begins and ends between two looks at the log', async () => {
    const at = stage();
    const watch = createTurnWait({ ...at.ports, log: turnAfterLookup(at), clock: at.clock });
    const waiting = await watch(key, 30_000, new AbortController().signal);
    const ended = waiting.end(posted);
    await settle();
    await at.clock.advance(31_000);
    expect(await ended).toMatchObject({ id: posted.id, message: { text: 'hello' } });
  });
});
