// The measure itself: it sees a process that blocks its event loop, and misses one that has ended.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { scratchDirectory } from '../e2e/standalone-process.ts';
import { loopDelay, watchedFrom } from './loop-delay.ts';

/** Computes for 80 ms on request, or collects garbage: of processor time, which other processes may want too. */
const script = `
process.stdin.on('data', (what) => {
  const before = process.threadCpuUsage();
  while (process.threadCpuUsage(before).user < 80_000) if (String(what) === 'collect') gc();
  process.stdout.write('done');
})`;

it('says which processes are there, and how long the worst of them was held up since', async () => {
  const loops = await scratchDirectory();
  const start = () => {
    const child = spawn(process.execPath, ['--expose-gc', '-e', script], {
      env: { ...process.env, ...watchedFrom(loops) },
    });
    return {
      child,
      does: async (what: string): Promise<void> => {
        child.stdin.write(what);
        await once(child.stdout, 'data');
      },
    };
  };
  const [busy, idle] = [start(), start()];
  const pids = [String(busy.child.pid), String(idle.child.pid)].sort();
  await expect.poll(() => readdirSync(loops).length).toBe(2);
  await loopDelay(loops); // resets what their start took
  await busy.does('compute');
  const { longestMs, pids: watched } = await loopDelay(loops);
  expect(watched).toEqual(pids);
  expect(longestMs).toBeGreaterThan(60);
  await busy.does('collect'); // which is no work of its own
  expect((await loopDelay(loops)).longestMs).toBeLessThan(60);

  busy.child.kill();
  await once(busy.child, 'exit');
  const left = await loopDelay(loops);
  expect(left.pids).toEqual([String(idle.child.pid)]);
  expect(left.longestMs).toBeLessThan(60); // it had nothing to do
  idle.child.kill();
  await once(idle.child, 'exit');
  await expect(loopDelay(loops)).rejects.toThrow('no process is watched');
});
