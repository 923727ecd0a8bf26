import { describe, expect, it } from 'vitest';
import { createRig, key, message, opening, toolsLoaded } from '../spec/processor-rig.ts';

describe('snapshots', () => {
  it('I-17 let a cold thread answer without folding its history: state and the last messages come from them', async () => {
    const operations: string[] = [];
    const rig = createRig({
      gate: {
        pass: async (_node, operation, apply) => {
          const answer = apply();
          if (operation.name === 'log.read') operations.push(`${Array.isArray(answer) ? answer.length : '?'} commits`);
          return answer;
        },
      },
      play: async function* (request) {
        const last = await request.prompt.last(3);
        yield { part: 'text', text: `saw ${last.length} of ${request.prompt.length}` };
        yield { part: 'finish', reason: 'stop', usage: { inputTokens: 0, outputTokens: 0 } };
      },
    });
    const settings = { snapshotEveryEvents: 10 };
    const first = await rig.processor('p1', { settings });
    await first.ports.inputs.publish(key, opening());
    await rig.clock.advance(50);
    await first.ports.inputs.publish(key, toolsLoaded(rig.dispatched));
    for (let turn = 0; turn < 30; turn++) {
      await first.ports.inputs.publish(key, message(`m${turn}`));
      await rig.clock.advance(50);
    }
    await first.service.stop(0);
    operations.length = 0;
    const second = await rig.processor('p2', { settings });
    await second.ports.inputs.publish(key, message('again'));
    await rig.clock.advance(50);
    expect(operations.length).toBe(1);
    expect(Number.parseInt(operations[0] ?? '', 10)).toBeLessThan(10);
    expect(rig.commits().at(-1)?.body).toContain('saw 3 of 61');
  });

  it('I-17 may all be lost', async () => {
    const rig = createRig();
    const first = await rig.processor('p1', { settings: { snapshotEveryEvents: 3 } });
    await first.ports.inputs.publish(key, opening());
    await rig.clock.advance(50);
    await first.ports.inputs.publish(key, toolsLoaded(rig.dispatched));
    await first.ports.inputs.publish(key, message('m1'));
    await rig.clock.advance(50);
    await first.service.stop(0);
    rig.world.durable.snapshots.clear();
    const second = await rig.processor('p2');
    await second.ports.inputs.publish(key, message('m2'));
    await rig.clock.advance(50);
    expect(rig.asked.at(-1)?.prompt.length).toBe(3);
  });
});
