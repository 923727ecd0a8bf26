import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, constants, getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { commitOf, freshKey } from '@dormouse/ports/contracts';
import { expect, it, vi } from 'vitest';
import { giveWayBy } from './give-way.ts';
import { openSqlite } from './open-sqlite.ts';

/** Priorities of this process's threads, ours and others. */
function priorities(): { readonly ours: readonly number[]; readonly others: readonly number[] } {
  const ours: number[] = [];
  const others: number[] = [];
  for (const thread of readdirSync('/proc/self/task')) {
    try {
      const name = readFileSync(`/proc/self/task/${thread}/comm`, 'utf8');
      (name.startsWith('dormouse-') ? ours : others).push(getPriority(Number(thread)));
    } catch {
      // it has ended meanwhile
    }
  }
  return { ours, others };
}

it.runIf(process.platform === 'linux' && availableParallelism() > 1)(
  'Y1 the writer and the thread that carries over give way, and nobody else',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'dormouse-way-'));
    const before = getPriority();
    const lowered = Math.min(constants.priority.PRIORITY_LOW, before + giveWayBy);
    const stores = await openSqlite({ directory, walFramesMax: 4 });
    const key = freshKey();
    let version = 0;
    await vi.waitFor(async () => {
      // The log grows, until there is the other one.
      const more = Array.from({ length: 32 }, () => ({ commit: commitOf(key, version++), owes: false }));
      await stores.log.append(more);
      expect(priorities().ours).toEqual([lowered, lowered]);
    }, 10_000);
    expect(new Set(priorities().others)).toEqual(new Set([before]));
    await stores.close();
    rmSync(directory, { recursive: true });
  },
);
