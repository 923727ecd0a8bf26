import { createPartitioner, recordKeyOf, storedTenantId } from '@dormouse/ports';
import fc from 'fast-check';
import { Partitioners } from 'kafkajs';
import { expect, it } from 'vitest';

it('threads lie where Kafka itself would put their keys', () => {
  const theirs = Partitioners.DefaultPartitioner();
  const key = fc.record({
    tenant: fc.string().map(storedTenantId),
    thread: fc.string({ unit: 'binary', maxLength: 60 }),
  });
  fc.assert(
    fc.property(key, fc.integer({ min: 1, max: 200 }), (thread, count) => {
      const partitionMetadata = Array.from({ length: count }, (_, partitionId) => ({
        ...{ partitionId, leader: 0, partitionErrorCode: 0, replicas: [], isr: [] },
      }));
      const message = { key: recordKeyOf(thread), value: null };
      expect(createPartitioner(count)(thread)).toBe(theirs({ topic: '', partitionMetadata, message }));
    }),
    { numRuns: 500 },
  );
});
