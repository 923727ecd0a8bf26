import { createManualClock } from '@dormouse/adapter-memory';
import type { ModelConfig, ModelPart } from '@dormouse/ports';
import { modelOf, modelRequestOf } from '@dormouse/testing';
import { describe, expect, it } from 'vitest';
import { createModel, modelSettingProblems } from '@dormouse/adapter-model';

const config = (parameters: ModelConfig['parameters']): ModelConfig => modelOf({ provider: 'demo', parameters });

const never = (): never => {
  throw new Error('the demo model needs nobody');
};

describe('the pace of the demo model', () => {
  const clock = createManualClock();
  const model = createModel({ fetch: never, secret: never, environment: {}, blob: never, clock });

  it('is the time before each piece', async () => {
    const request = modelRequestOf([], { model: config({ pace_ms: 100 }) });
    const parts: ModelPart[] = [];
    const spoken = (async () => {
      for await (const part of model.complete(request)) parts.push(part);
    })();
    await clock.advance(99);
    expect(parts).toHaveLength(0);
    await clock.advance(1);
    expect(parts).toHaveLength(1);
    await clock.advance(60_000);
    await spoken;
    expect(parts.at(-1)).toMatchObject({ part: 'finish' });
  });

  it('is judged where the agent is registered', () => {
    expect(modelSettingProblems(config({ pace_ms: 40 }))).toEqual([]);
    for (const pace of [-1, 1.5, '40', 60_001, null])
      expect(modelSettingProblems(config({ pace_ms: pace }))).toMatchObject([{ pointer: '/parameters/pace_ms' }]);
  });
});
