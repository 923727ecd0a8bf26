// A consumer is alive only while it makes progress: one whose broker sends nothing any more is detected, though its
// connection stands and nothing failed.
import { openKafka } from '@dormouse/adapter-kafka';
import { createInputRecorder, freshKey, messageOf } from '@dormouse/ports/contracts';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { recipe } from '../services/kafka/recipe.ts';
import { withServices } from '../services/needed-services.ts';
import { serviceCache } from '../services/service-cache.ts';

const sessionTimeoutMs = 3_000;
const logger = { info: () => {}, warn: () => {}, error: () => {} };

withServices(['kafka'], () => {
  it('C6 a consumer that stands still says so, and no longer when it goes on', async (context) => {
    const directory = mkdtempSync(join(tmpdir(), 'dormouse-kafka-'));
    const started = await recipe.start({ directory, cache: serviceCache, own: true, say: () => {} });
    if (!started.available) return context.skip(`${started.reason} ${started.remedy}`);
    const { service } = started;
    const bus = await openKafka({
      brokers: [service.url],
      prefix: `stall-${randomBytes(6).toString('hex')}.`,
      makeTopics: { partitions: 3, replication: 1, retentionMs: 14 * 86_400_000 },
      ...{ clientId: 'test', sessionTimeoutMs, logger },
    });
    try {
      const recorder = createInputRecorder((delivery) => {
        delivery.decided(null);
        delivery.release();
      });
      const subscription = await bus.inputs.consume(recorder);
      expect(bus.stalled()).toBeNull();
      service.kill('SIGSTOP');
      await expect.poll(() => bus.stalled()).toMatch(/not come back from the broker for \d+ s/);
      expect(bus.problem()).toBe(bus.stalled());
      service.kill('SIGCONT');
      await expect.poll(() => bus.problem() ?? bus.stalled()).toBeNull();
      await bus.inputs.publish(freshKey(), messageOf('after'));
      await expect.poll(() => recorder.ids()).toEqual(['after']);
      await subscription.close(100);
    } finally {
      service.kill('SIGCONT');
      await bus.close();
      await service.stop();
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
