// The README's commands, pasted into a shell before five processes and real servers.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readDocument } from '../docs/document.ts';
import { stepsOf, walk } from '../docs/walk-through.ts';
import type { System } from '../e2e/conversation.ts';
import { scratchDirectory } from '../e2e/standalone-process.ts';
import { endSystems, startSystem } from '../e2e/system.ts';
import { withServices } from '../services/needed-services.ts';

withServices(['kafka', 'mongo', 'redis'], () => {
  let at: System;
  beforeAll(async () => {
    at = await startSystem();
  });
  afterAll(endSystems);

  it('the cluster prints what the README shows of one process', async () => {
    const steps = stepsOf(readDocument('README.md')).filter(({ script }) => !script.includes('/dev/clock'));
    const directory = await scratchDirectory();
    writeFileSync(join(directory, 'key'), at.key);
    const real = { 'http://127.0.0.1:7420': at.url, '.dormouse/key': join(directory, 'key') };
    expect(await walk(steps, directory, real)).toEqual({ surprises: [], stderr: '' });
  });
});
