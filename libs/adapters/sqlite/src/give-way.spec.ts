import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { giveWayBy } from './give-way.ts';
import { openSqlite } from './open-sqlite.ts';

/** Numbers of this process's threads of that name. */
const threadsNamed = (name: string): readonly number[] =>
  readdirSync('/proc/self/task')
    .map(Number)
    .filter((thread) => readFileSync(`/proc/self/task/${thread}/comm`, 'utf8').startsWith(name));

it.runIf(process.platform === 'linux' && availableParallelism() > 1)(
  'Y1 the writer gives way, and nobody else',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'dormouse-way-'));
    const before = getPriority(process.pid);
    const stores = await openSqlite({ directory });
    await stores.timers.set([{ tenant: 'acme', thread: 'thr_1', timerId: 'tmr_1', due: 1 }]); // it has begun to serve
    const priorities = threadsNamed('dormouse-writer').map((thread) => getPriority(thread));
    expect(priorities).toContain(before + giveWayBy);
    expect(getPriority(process.pid)).toBe(before);
    await stores.close();
    rmSync(directory, { recursive: true });
  },
);
