import { describe, expect, it } from 'vitest';
import { type Marks, problemOf } from './installation.ts';

const bus = { cluster: 'kafka-1', prefix: 'rap.', partitions: 12 };
const ours = { id: 'a1', bus };

const problem = (changes: Partial<Marks>): string | null =>
  problemOf({ bus, onTopics: ['a1'], inDatabase: ours, ...changes });

describe('what two marks say of each other', () => {
  it('nothing, when they are of one installation', () => {
    expect(problem({})).toBeNull();
  });

  it.each<[string, Partial<Marks>]>([
    ['nobody was here before', { onTopics: [], inDatabase: null }],
    ['the topics were made anew', { onTopics: [] }],
    ['an operator lets the database forget its topics', { onTopics: [], inDatabase: { id: 'a1', bus: null } }],
    [
      'a copy of our topics is on another cluster, and the old one was forgotten',
      { inDatabase: { id: 'a1', bus: null } },
    ],
  ])('nothing that forbids a setup: %s', (_, changes) => {
    expect(problem(changes)).toBeNull();
  });

  it.each<[string, Partial<Marks>, string]>([
    ['a new database beside topics of another', { inDatabase: null }, 'belong to the installation a1'],
    ['two databases', { onTopics: ['b2'] }, 'belong to the installation b2, and this database to a1'],
    ['two that were set up at once', { onTopics: ['a1', 'b2'] }, 'delete the topic rap.installation-…'],
    ['another prefix', { bus: { ...bus, prefix: 'two.' }, onTopics: [] }, 'Mend DORMOUSE_KAFKA_PREFIX'],
    ['another Kafka', { bus: { ...bus, cluster: 'kafka-2' }, onTopics: [] }, 'of the Kafka cluster kafka-1'],
    ['partitions changed by hand', { bus: { ...bus, partitions: 24 } }, 'have 24 partitions, and were set up with 12'],
  ])('are a problem with what mends it: %s', (_, changes, words) => {
    expect(problem(changes)).toContain(words);
  });
});
