import { createManualClock } from '@dormouse/adapter-memory';
import { Fault, type ThreadDirectory, type ThreadProjection, tenantId } from '@dormouse/ports';
import { unopenedThread } from '@dormouse/thread';
import { beforeEach, expect, it } from 'vitest';
import { createProjections, type Projections } from './projections.ts';

const settings = {
  projectionDelayMs: 100,
  projectionDelayMsMax: 1_000,
  projectionsPerBatchMax: 10,
  retryDelayMsMax: 500,
};
const keyOf = (thread: string) => ({ tenant: tenantId('acme'), thread });

let clock: ReturnType<typeof createManualClock>;
let written: ThreadProjection[];
let isAway: boolean;
let jumpedMs: number;
let meanwhile: () => void;
let projections: Projections;
beforeEach(() => {
  clock = createManualClock();
  written = [];
  isAway = false;
  jumpedMs = 0;
  meanwhile = () => {};
  const project: ThreadDirectory['project'] = async (rows) => {
    if (isAway) throw new Fault('UNAVAILABLE', 'away');
    written.push(...rows);
    const happens = meanwhile;
    meanwhile = () => {};
    happens();
  };
  projections = createProjections({
    directory: { project } as ThreadDirectory,
    clock: { ...clock, now: () => clock.now() + jumpedMs },
    logger: { info: () => {}, warn: () => {}, error: () => {} },
    settings,
  });
});

const change = (thread: string, position: number): void =>
  projections.changed(keyOf(thread), { ...unopenedThread(tenantId('acme'), thread), position });
const positions = (): readonly number[] => written.map(({ position }) => position);

it('J1 J3 writes the newest state of a thread that rests, once', async () => {
  for (const position of [1, 2, 3]) change('a', position);
  await clock.advance(200);
  expect(positions()).toEqual([3]);
  expect(projections.waiting).toBe(0);
  await clock.advance(5_000);
  expect(positions()).toEqual([3]);
});

it('J1 writes again what changed while it was written', async () => {
  meanwhile = () => change('a', 2);
  change('a', 1);
  await clock.advance(5_000);
  expect(positions()).toEqual([1, 2]);
  expect(projections.waiting).toBe(0);
});

it('J3 writes a thread that changes all the time once a second, and what it came to at the end', async () => {
  for (let position = 1; position <= 60; position++) {
    change('busy', position);
    await clock.advance(50);
  }
  expect(written.length).toBeGreaterThanOrEqual(2);
  expect(written.length).toBeLessThanOrEqual(3);
  await clock.advance(300);
  expect(positions().at(-1)).toBe(60);
});

it('J3 one that rests does not wait for those at work', async () => {
  change('rests', 1);
  for (let position = 1; position <= 6; position++) {
    change('busy', position);
    await clock.advance(50);
  }
  expect(written.map(({ thread }) => thread)).toEqual(['rests']);
});

it('J1 what could not be written is written later; a last attempt takes all of it', async () => {
  isAway = true;
  change('a', 1);
  await clock.advance(300);
  isAway = false;
  change('b', 1);
  await projections.flush();
  expect(written.map(({ thread }) => thread)).toEqual(['a', 'b']);
  expect(projections.waiting).toBe(0);
});

it('J3 a clock that jumps back holds no row up', async () => {
  change('a', 1);
  jumpedMs = -3_600_000;
  await clock.advance(200);
  expect(positions()).toEqual([1]);
});

it('J4 writes what is left of one thread when that is asked for, and nothing of it afterwards', async () => {
  change('parks', 4);
  change('other', 1);
  await projections.flushOf(keyOf('parks'));
  expect(positions()).toEqual([4]);
  await projections.flushOf(keyOf('unknown'));
  await clock.advance(5_000);
  expect(positions()).toEqual([4, 1]);
});
