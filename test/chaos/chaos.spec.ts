// The short form of `npm run chaos`: a quiet phase, one beside the crowd, half a minute of faults that begin with those
// of brokers, and the verdict of the judges; the same on every machine.
import { expect, it } from 'vitest';
import { withServices } from '../services/needed-services.ts';
import { ServerMissing } from '../services/service.ts';
import { serviceCache } from '../services/service-cache.ts';
import { brokerMischiefs } from './mischief.ts';
import { runChaos } from './run-chaos.ts';

const seed = 7;

withServices(['kafka', 'mongo', 'redis'], () => {
  it(`I-01 I-03 I-05 I-07 I-10 I-24 half a minute of chaos, seed ${seed}: nothing lost, nothing doubled, everything at rest`, async (context) => {
    const lines: string[] = [];
    const say = (line: string): void => void lines.push(line);
    const phases = { warmSeconds: 6, quietSeconds: 6, crowdSeconds: 10, seconds: 30, restSeconds: 180 };
    const order = { seed, ...phases, threads: 12, crowd: 'both', faults: 'storm', cache: serviceCache, say } as const;
    const report = await runChaos(order).catch((error: unknown) => {
      context.skip(error instanceof ServerMissing, (error as Error).message);
      throw error;
    });
    process.stderr.write(`${lines.join('\n')}\n${JSON.stringify({ ...report.counted, ...report.waits })}\n`);
    expect(report.violations).toEqual([]);
    expect(report.messages).toBeGreaterThan(50);
    for (const { name } of brokerMischiefs) expect(report.counted[name], name).toBeGreaterThan(0);
  }, 600_000);
});
