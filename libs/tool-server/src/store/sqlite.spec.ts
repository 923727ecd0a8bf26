import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openSqliteStore } from './sqlite-store.ts';
import { defineTool } from '../define/tool.ts';
import { bench, temporaryFolder } from '../spec/bench.ts';

const remember = defineTool(
  { name: 'remember', description: 'Counts.', input: z.strictObject({}) },
  (_given, { memory }) => {
    const runs = Number(memory.get('runs') ?? 0) + 1;
    memory.set('runs', runs);
    return runs;
  },
);

describe('a runtime without node:sqlite', () => {
  const getBuiltinModule = process.getBuiltinModule.bind(process);
  beforeEach(() => {
    process.getBuiltinModule = ((name: string) =>
      name === 'node:sqlite' ? undefined : getBuiltinModule(name)) as typeof getBuiltinModule;
  });
  afterEach(() => void (process.getBuiltinModule = getBuiltinModule));

  it('T8 serves tools from memory', async () => {
    const at = await bench({ tools: [remember] });
    expect([await at.ask('remember'), await at.ask('remember')]).toEqual(['1', '2']);
  });

  it('says what a data directory needs, and makes none', async () => {
    const folder = join(await temporaryFolder(), 'data');
    const complaint = /a data directory needs Node 22\.16 or newer \(node:sqlite\), and this is v/;
    expect(() => openSqliteStore(folder)).toThrow(complaint);
    expect(existsSync(folder)).toBe(false);
  });
});
