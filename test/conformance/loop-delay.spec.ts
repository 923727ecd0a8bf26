// The measure itself: it sees a process that holds up its event loop, and misses one that has ended.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { scratchDirectory } from '../e2e/standalone-process.ts';
import { loopDelay, watchedFrom } from './loop-delay.ts';

/** Computes for 80 ms when it is told to: of processor time, which others may want too. */
const script = `process.stdin.on('data', () => {
  const before = process.threadCpuUsage();
  while (process.threadCpuUsage(before).user < 80_000);
  process.stdout.write('done');
})`;

it('says which processes are there, and how long the worst of them was held up since', async () => {
  const loops = await scratchDirectory();
  const start = () => spawn(process.execPath, ['-e', script], { env: { ...process.env, ...watchedFrom(loops) } });
  const [busy, idle] = [start(), start()];
  const pids = [String(busy.pid), String(idle.pid)].sort();
  await expect.poll(() => readdirSync(loops).length).toBe(2);
  await loopDelay(loops); // and what starting them took is forgotten
  busy.stdin.write('compute\n');
  await once(busy.stdout, 'data');
  const { first, second, p99, pids: watched } = await loopDelay(loops);
  expect(watched).toEqual(pids);
  expect(first).toBeGreaterThan(60);
  expect(second).toBeLessThan(first);
  expect(p99).toBeLessThan(60); // of a few looks a single one may be long

  for (let time = 0; time < 3; time++) {
    busy.stdin.write('compute\n');
    await once(busy.stdout, 'data');
    await setTimeout(20); // the watch looks in between
  }
  expect((await loopDelay(loops)).p99).toBeGreaterThan(60); // three of them may not

  busy.kill();
  await once(busy, 'exit');
  const left = await loopDelay(loops);
  expect(left.pids).toEqual([String(idle.pid)]);
  expect(left.first).toBeLessThan(60); // it had nothing to do
  idle.kill();
  await once(idle, 'exit');
  await expect(loopDelay(loops)).rejects.toThrow('no process is watched');
});
