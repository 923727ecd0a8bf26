// `kill -9` at any moment under load: nothing acknowledged is lost, nothing is there twice, and the directory is free
// again.
import { tenantId } from '@dormouse/ports';
import { openSqlite, type SqliteStores } from '@dormouse/adapter-sqlite';
import { createInputRecorder } from '@dormouse/ports/contracts';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { removeScratchDirectories, scratchDirectory } from './scratch-directory.ts';

removeScratchDirectories();

const victim = fileURLToPath(new URL('./sqlite-victim.ts', import.meta.url));
const rounds = 6;

interface Victim {
  readonly child: ChildProcess;
  /** Its output so far. */
  said(): string;
  /** Waits for an output. @throws when it dies by itself, with its error. */
  until(condition: (said: string) => boolean): Promise<void>;
}

async function startVictim(directory: string, round: number): Promise<Victim> {
  const child = spawn(process.execPath, ['--conditions=dormouse-source', victim, directory, String(round)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  let complained = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (said += piece));
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (complained += piece));
  const running: Victim = {
    child,
    said: () => said,
    until: async (condition) => {
      while (!condition(said)) {
        if (child.exitCode !== null) throw new Error(`the victim died of itself: ${complained}`);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    },
  };
  await running.until((so) => so.includes('ready\n'));
  return running;
}

async function killHard({ child }: Victim): Promise<void> {
  if (child.exitCode !== null) throw new Error('the victim died of itself before it was killed');
  const closed = once(child, 'close');
  child.kill('SIGKILL');
  await closed;
}

/** Thread and input of every acknowledgement that arrived completely. */
function acknowledged(said: string): readonly (readonly [string, string])[] {
  return [...said.matchAll(/^acked (\S+) (\S+)\n/gm)].map(([, thread = '', input = '']) => [thread, input] as const);
}

async function expectEverything(stores: SqliteStores, acked: readonly (readonly [string, string])[]): Promise<void> {
  const threads = Map.groupBy(acked, ([thread]) => thread);
  for (const [thread, pairs] of threads) {
    const commits = await stores.log.read({ tenant: tenantId('acme'), thread }, 0);
    expect(commits.map((commit) => commit.version)).toEqual(commits.map((_, index) => index));
    const decided = commits.flatMap((commit) => commit.inputs);
    expect(new Set(decided).size).toBe(decided.length);
    expect(pairs.filter(([, input]) => !decided.includes(input))).toEqual([]);
  }
}

describe('sqlite after kill -9', () => {
  it(`I-01, I-03: ${rounds} times under load, nothing acknowledged is lost, and the next process begins at once`, async () => {
    const directory = await scratchDirectory();
    const acked: (readonly [string, string])[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const running = await startVictim(directory, round);
      const before = acked.length;
      await running.until((said) => acknowledged(said).length > 0);
      await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 120));
      await killHard(running);
      acked.push(...acknowledged(running.said()));
      expect(acked.length).toBeGreaterThan(before);
      const stores = await openSqlite({ directory });
      await expectEverything(stores, acked);
      await stores.close();
    }
  });

  it('V10: what was committed and not released is recovered, from the first commit that owes', async () => {
    const directory = await scratchDirectory();
    const running = await startVictim(directory, 0);
    await running.until((said) => acknowledged(said).length >= 500);
    await killHard(running);
    const stores = await openSqlite({ directory });
    const recorder = createInputRecorder();
    const subscription = await stores.inputs.consume(recorder);
    const owing = new Set(
      acknowledged(running.said())
        .map(([thread]) => thread)
        .filter((thread) => Number(thread.slice(4)) % 2 === 1),
    );
    expect(owing.size).toBeGreaterThan(0);
    for (const thread of owing) {
      expect(recorder.recoveries({ tenant: tenantId('acme'), thread }).map((recovery) => recovery.from)).toEqual([0]);
    }
    await subscription.close(100);
    await stores.close();
  });

  it('a second process on the same directory is refused while the first lives, and welcome once it is dead', async () => {
    const directory = await scratchDirectory();
    const running = await startVictim(directory, 0);
    await expect(openSqlite({ directory })).rejects.toMatchObject({
      name: 'Fault',
      code: 'DATA_DIR_IN_USE',
      message: expect.stringContaining(directory),
    });
    await killHard(running);
    const stores = await openSqlite({ directory });
    await stores.close();
  });
});
