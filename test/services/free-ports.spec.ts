import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { freePorts, freeStretch, rangesBelow, takenPorts } from './free-ports.ts';

const module = new URL('free-ports.ts', import.meta.url).href;
const processes = 6;
const singles = 400;
const stretches = 20;
const length = 20;

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** What a process has chosen, which runs on. */
async function chosenByAnother(): Promise<readonly number[]> {
  const program = `
    const { freePorts, freeStretch } = await import(${JSON.stringify(module)});
    const chosen = [...(await freePorts(${singles}))];
    for (let nth = 0; nth < ${stretches}; nth += 1) {
      const first = await freeStretch(${length});
      chosen.push(...Array.from({ length: ${length} }, (_, nth) => first + nth));
    }
    process.stdout.write(JSON.stringify(chosen) + '\\n');
    process.stdin.resume();`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  let said = '';
  for await (const chunk of child.stdout) {
    said += String(chunk);
    if (said.endsWith('\n')) break;
  }
  return JSON.parse(said) as readonly number[];
}

describe('ports of tests', () => {
  it.runIf(process.platform === 'linux')(
    'P2 processes that choose at the same time never choose the same, although no server listens yet',
    async () => {
      const chosen = (await Promise.all(Array.from({ length: processes }, chosenByAnother))).flat();
      expect(chosen).toHaveLength(processes * (singles + stretches * length));
      expect(new Set(chosen).size).toBe(chosen.length);
    },
  );

  it('P2 callers of one process neither', async () => {
    const chosen = (await Promise.all(Array.from({ length: 10 }, () => freePorts(20)))).flat();
    expect(new Set(chosen).size).toBe(200);
  });

  it('are without a listener, in a row where that is wanted', async () => {
    const first = await freeStretch(length);
    const ports = Array.from({ length }, (_, nth) => first + nth);
    expect(await takenPorts(ports)).toEqual([]);
    const server = createServer().listen(first + 3, '127.0.0.1');
    await once(server, 'listening');
    expect(await takenPorts(ports)).toEqual([first + 3]);
    server.close();
  });

  it.each([
    [32_768, 32_000],
    [16_000, 16_000],
    [1_024, 32_000],
  ])('P1 are below those of outgoing connections where there is room: from %i on', (outgoing, end) => {
    const ranges = rangesBelow(outgoing);
    expect(ranges).toMatchObject({ stretches: 10_000, end });
    expect(ranges.singles - ranges.stretches).toBeGreaterThan(1_000);
    expect(ranges.end - ranges.singles).toBeGreaterThan(1_000);
  });
});
