// `npm run cluster` before anything is started.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { freeStretch } from '../services/free-ports.ts';

const launcher = fileURLToPath(new URL('../../tools/cluster/cluster.ts', import.meta.url));

const launched = (...args: readonly string[]): Promise<{ readonly code: unknown; readonly said: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [launcher, ...args], (error, out, err) =>
      resolve({ code: error?.code, said: out + err }),
    );
  });

describe('C8 a value that a flag cannot have ends it with 2, and what it can have, and nothing is started', () => {
  it.each([
    ...['0', '-1', '1.5', 'two', '1000', '10', '', ' ', '1e0'].map((value) => ['copies', value, 9] as const),
    ...['abc', '0', '-7420', '65530', '7420.5'].map((value) => ['port', value, 65_521] as const),
  ])('--%s %j', async (flag, value, max) => {
    const directory = join(mkdtempSync(join(tmpdir(), 'dormouse-cluster-')), 'data');
    const { code, said } = await launched('--data', directory, `--${flag}`, value);
    expect({ code, said }).toEqual({
      code: 2,
      said:
        `--${flag} takes a whole number from 1 to ${max}, and not ${JSON.stringify(value)}.\n` +
        'npm run cluster -- --help says what there is.\n',
    });
    expect(existsSync(directory)).toBe(false);
    rmSync(join(directory, '..'), { recursive: true, force: true });
  });

  it('a port that leaves no room for the copies', async () => {
    const { code, said } = await launched('--copies', '9', '--port', '65400');
    expect([code, said]).toEqual([2, expect.stringContaining('--port takes a whole number from 1 to 65361')]);
  });

  it.each(['-v', '--json'])('copies without a number before %s', async (next) => {
    const { code, said } = await launched('--copies', next);
    expect([code, said]).toEqual([2, expect.stringContaining("'--copies")]);
  });
});

it('C5 a port on which somebody else answers is named, and nothing is started', async () => {
  const directory = join(mkdtempSync(join(tmpdir(), 'dormouse-cluster-')), 'data');
  const first = await freeStretch(20);
  const somebody = createServer((_, response) => void response.end('ready'));
  somebody.listen(first + 10, '127.0.0.1');
  await once(somebody, 'listening');
  try {
    const { code, said } = await launched('--data', directory, '--port', String(first));
    expect(code).toBe(1);
    expect(said).toContain(`somebody listens on ${first + 10} already`);
    expect(said).toContain('--port');
    expect(existsSync(directory)).toBe(false);
  } finally {
    somebody.close();
    rmSync(join(directory, '..'), { recursive: true, force: true });
  }
});
