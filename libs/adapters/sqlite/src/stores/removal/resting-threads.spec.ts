import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { schemaSteps } from '../../file/schema.ts';
import { selectFamily, selectFork, selectLeaving, selectRoots, selectUnplaced } from './resting-threads.ts';

const database = new DatabaseSync(':memory:');
for (const step of schemaSteps) database.exec(step);

it.each([
  ['threads_at_rest', selectRoots],
  ['threads_leaving', selectLeaving],
  ['threads_by_family', selectFamily],
  ['threads_by_fork', selectFork],
  ['threads_unplaced', selectUnplaced],
])('P1 a list is read by the index %s, in its order', (index, sql) => {
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
  const steps = plan.map(({ detail }) => String(detail)).filter((detail) => detail.includes('threads'));
  expect(steps).toEqual([expect.stringContaining(`INDEX ${index}`)]);
  expect(plan.map(({ detail }) => String(detail)).join()).not.toContain('TEMP B-TREE');
});
