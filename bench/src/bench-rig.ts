// The base of every scenario: a directory, the tool server, the driver, and the progress output.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Started, startNode } from './child-process.ts';
import type { DriverJob, DriverResult, ToolCounts } from './driver-job.ts';

export interface Rig {
  readonly directory: string;
  /** Base URL of the tool server. */
  readonly tools: string;
  /** @throws when a request failed: a run with errors is not a measurement. (B5) */
  drive(job: DriverJob): Promise<DriverResult>;
  toolCounts(): Promise<ToolCounts>;
  /** From now on results are sent twice with this chance. */
  duplicate(chance: number): Promise<void>;
  /** A new directory for a contestant. */
  room(name: string): string;
  say(line: string): void;
  close(keep: boolean): Promise<void>;
}

export async function openRig(say: (line: string) => void): Promise<Rig> {
  const directory = mkdtempSync(join(tmpdir(), 'dormouse-bench-'));
  const tools = await startNode('tool-server', join(import.meta.dirname, 'tool-server.ts'), directory);
  const driver = await startNode('driver', join(import.meta.dirname, 'driver.ts'), directory);
  const base = (await tools.ask({ ask: 'base' })) as string;
  let rooms = 0;
  return {
    directory,
    tools: base,
    drive: (job) => drive(driver, job),
    toolCounts: async () => (await tools.ask({ ask: 'counts' })) as ToolCounts,
    duplicate: async (chance) => void (await tools.ask({ ask: 'duplicate', chance })),
    room: (name) => {
      rooms += 1;
      const made = join(directory, `${rooms}-${name}`);
      mkdirSync(made);
      return made;
    },
    say,
    close: async (keep) => {
      await driver.stop(1_000);
      await tools.stop(1_000);
      if (!keep) rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function drive(driver: Started, job: DriverJob): Promise<DriverResult> {
  const result = (await driver.ask(job)) as DriverResult;
  if (result.errorCount > 0 && job.toleratesErrors !== true)
    throw new Error(`${result.errorCount} requests failed: ${result.errors.join(' | ')}`);
  return result;
}
