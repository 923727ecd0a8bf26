// The keeper of test servers, on processes that only sleep: which are signalled, and which never are.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keptService, writeRecord } from './kept-service.ts';
import { identityOf, isRunning, type ProcessIdentity, signalTo } from './process-identity.ts';
import type { ServiceRecipe } from './service.ts';

const recipe: ServiceRecipe = {
  name: 'redis',
  variable: 'DORMOUSE_TEST_NOT_GIVEN',
  outputs: ['redis.out'],
  start: () => Promise.reject(new Error('nothing is started here')),
};

const sleepers: ChildProcess[] = [];
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'dormouse-kept-'));
  mkdirSync(join(directory, 'redis'));
});
afterEach(() => {
  for (const child of sleepers.splice(0)) child.kill('SIGKILL');
  delete process.env['DORMOUSE_TEST_NOT_GIVEN'];
  rmSync(directory, { recursive: true, force: true });
});

function sleeper(): ProcessIdentity {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  sleepers.push(child);
  const identity = identityOf(child.pid ?? 0);
  if (identity === null) throw new Error('it did not start');
  return identity;
}

const another = (one: ProcessIdentity): ProcessIdentity => ({ ...one, startedAt: 'long ago' });
const place = (): string => join(directory, 'redis');
const service = () => keptService(recipe, directory);

describe('a process that was written down', () => {
  it('is known for as long as it lives', async () => {
    const one = sleeper();
    expect(identityOf(one.pid)).toEqual(one);
    expect(signalTo(one, 'SIGKILL')).toBe(true);
    await expect.poll(() => isRunning(one)).toBe(false);
    expect(signalTo(one, 'SIGKILL')).toBe(false);
  });

  it('is not the one that has its number now', () => {
    const one = sleeper();
    expect(signalTo(another(one), 'SIGKILL')).toBe(false);
    expect(isRunning(one)).toBe(true);
  });
});

describe('a kept service', () => {
  it('is down while nothing is written', async () => {
    expect(service().state()).toEqual({ state: 'down' });
    await service().down();
  });

  it('is up while its keeper and all of its servers live, and damaged when one is gone', async () => {
    const [keeper, server] = [sleeper(), sleeper()];
    writeRecord(place(), { state: 'up', keeper, url: 'redis://127.0.0.1:1', servers: [server] });
    expect(service().state()).toEqual({ state: 'up', url: 'redis://127.0.0.1:1', pids: [server.pid] });
    expect(await service().up(() => {})).toMatchObject({ state: 'up', pids: [server.pid] });
    signalTo(server, 'SIGKILL');
    await expect.poll(() => service().state()).toMatchObject({ state: 'damaged', pids: [] });
  });

  it('K1 ends what it started, also when its keeper was killed before', async () => {
    const [keeper, server] = [sleeper(), sleeper()];
    writeRecord(place(), { state: 'up', keeper, url: 'x', servers: [server] });
    signalTo(keeper, 'SIGKILL');
    await service().down();
    expect([isRunning(keeper), isRunning(server)]).toEqual([false, false]);
    expect(service().state()).toEqual({ state: 'down' });
  });

  it('K1 leaves alone whoever has the numbers of its record now', async () => {
    const [one, other] = [sleeper(), sleeper()];
    writeRecord(place(), { state: 'up', keeper: another(one), url: 'x', servers: [another(other)] });
    await service().down();
    expect([isRunning(one), isRunning(other)]).toEqual([true, true]);
  });

  it('that the environment names is given', async () => {
    process.env['DORMOUSE_TEST_NOT_GIVEN'] = 'redis://elsewhere';
    expect(await service().up(() => {})).toEqual({ state: 'given', url: 'redis://elsewhere' });
  });

  it('shows the last lines of what it printed', () => {
    writeFileSync(join(place(), 'redis.out'), 'one\ntwo\nthree\n');
    writeFileSync(join(place(), 'keeper.out'), '');
    expect([...service().lastLines(2)]).toEqual([['redis.out', ['two', 'three']]]);
  });
});
