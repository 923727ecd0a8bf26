import { describe, expect, it } from 'vitest';
import { keyProblemOf, type Marks, problemOf } from './installation.ts';

const bus = { cluster: 'kafka-1', prefix: 'rap.', partitions: 12 };
const ours = { id: 'a1', bus, masterKey: 'm1' };

const problem = (changes: Partial<Marks>): string | null =>
  problemOf({ bus, onTopics: ['a1'], inDatabase: ours, masterKeys: ['m1'], ...changes });

describe('what two marks say of each other', () => {
  it('nothing, when they are of one installation', () => {
    expect(problem({})).toBeNull();
  });

  it.each<[string, Partial<Marks>]>([
    ['nobody was here before', { onTopics: [], inDatabase: null }],
    ['the topics were made anew', { onTopics: [] }],
    [
      'an operator lets the database forget its topics',
      { onTopics: [], inDatabase: { id: 'a1', bus: null, masterKey: null } },
    ],
    [
      'a copy of our topics is on another cluster, and the old one was forgotten',
      { inDatabase: { id: 'a1', bus: null, masterKey: null } },
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

describe('the master key of an installation', () => {
  it.each([
    ['nothing was set up', null],
    ['it is this one', ours],
    ['a version before this one set it up', { ...ours, masterKey: null }],
  ])('is no problem: %s', (_, inDatabase) => {
    expect(keyProblemOf({ inDatabase, masterKeys: ['m1'] })).toBeNull();
  });

  it('is one of several while they are rotated', () => {
    expect(keyProblemOf({ inDatabase: ours, masterKeys: ['m2', 'm1'] })).toBeNull();
  });

  it('that is another one is a problem with what mends it, which names neither', () => {
    const problem = keyProblemOf({ inDatabase: ours, masterKeys: ['m2', 'm3'] });
    expect(problem).toContain('Set the key that the other processes have');
    expect(problem).not.toMatch(/m1|m2/);
  });
});
