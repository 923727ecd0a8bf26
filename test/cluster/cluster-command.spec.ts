// `npm run cluster` before anything is started.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { freeStretch } from '../services/free-ports.ts';

const launcher = fileURLToPath(new URL('../../tools/cluster/cluster.ts', import.meta.url));

const launched = (...args: readonly string[]): Promise<{ readonly code: unknown; readonly said: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [launcher, ...args], (error, out, err) =>
      resolve({ code: error?.code, said: out + err }),
    );
  });

it('a port that is none is refused', async () => {
  for (const port of ['abc', '0', '65530'])
    expect(await launched('--port', port)).toMatchObject({ code: 1, said: expect.stringContaining('--port takes') });
});

it('C7 a number of copies that is none is refused', async () => {
  for (const copies of ['0', 'two', '10', '1.5'])
    expect(await launched('--copies', copies)).toMatchObject({
      code: 1,
      said: expect.stringContaining('--copies takes'),
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
