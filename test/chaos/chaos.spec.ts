// The short form of `npm run chaos`: what the judges say of half a minute of mischief, the same for everybody who runs it.
import { expect, it } from 'vitest';
import { withServices } from '../services/needed-services.ts';
import { ServerMissing } from '../services/service.ts';
import { serviceCache } from '../services/service-cache.ts';
import { runChaos } from './run-chaos.ts';

const seed = 7;

withServices(['kafka', 'mongo', 'redis'], () => {
  it(`I-01 I-03 I-05 I-07 I-10 I-24 half a minute of chaos, seed ${seed}: nothing lost, nothing doubled, everything at rest`, async (context) => {
    const lines: string[] = [];
    const say = (line: string): void => void lines.push(line);
    const order = { seed, seconds: 35, threads: 12, cache: serviceCache, say };
    const report = await runChaos(order).catch((error: unknown) => {
      context.skip(error instanceof ServerMissing, (error as Error).message);
      throw error;
    });
    process.stderr.write(`${lines.join('\n')}\n${JSON.stringify(report.counted)}\n`);
    expect(report.violations).toEqual([]);
    expect(report.messages).toBeGreaterThan(50);
  }, 300_000);
});
