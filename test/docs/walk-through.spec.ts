// The commands of the README and of the developer's start page, pasted into a shell before a real process.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanUp, scratchDirectory, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { readDocument, root } from './document.ts';
import { isAsShown, stepsOf, walk } from './walk-through.ts';

describe('the walk-through of the README', () => {
  let folder: string; // the user's working directory
  let standalone: Standalone;
  let restarts = 0;
  /** The first terminal: restarts the process and resolves when it runs. */
  const firstTerminal = createServer((_request, response) => {
    const restart = async (): Promise<void> => {
      expect(await standalone.stop()).toBe(0);
      standalone = await startStandalone({ dataDir: standalone.dataDir, port: standalone.port });
      restarts += 1;
    };
    restart().then(
      () => response.writeHead(204).end(),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  beforeAll(async () => {
    folder = await scratchDirectory();
    standalone = await startStandalone({ dataDir: join(folder, '.dormouse') });
    await new Promise<void>((resolve) => firstTerminal.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    firstTerminal.close();
    expect(await standalone.stop()).toBe(0);
    await cleanUp();
  });

  it('prints what the README shows', async () => {
    const { port } = firstTerminal.address() as AddressInfo;
    const walked = await walk(stepsOf(readDocument('README.md')), folder, {
      'http://127.0.0.1:7420': standalone.url,
      ': Ctrl-C and npm start in the first terminal': `curl -sS http://127.0.0.1:${port}`,
    });
    expect(walked).toEqual({ surprises: [], stderr: '' });
    expect(restarts).toBe(1);
  });

  it('and that of the start page for developers', async () => {
    const cli = join(root, 'apps', 'cli', 'bin', 'dormouse.mjs');
    const walked = await walk(stepsOf(readDocument('docs/start/developer.md')), folder, {
      'npx @dormouse/cli': `DORMOUSE_URL=${standalone.url} '${process.execPath}' '${cli}'`,
    });
    expect(walked).toEqual({ surprises: [], stderr: '' });
  });
});

describe('an output', () => {
  it.each([
    ['{ "id": "thr_…" }', '{"id":"thr_01A"}'],
    ['a\n…\nb', 'a x y b'],
    ['', '\n'],
  ])('%j is what %j shows', (shown, printed) => expect(isAsShown(shown, printed)).toBe(true));

  it.each([
    ['{"id": "thr_…"}', '{"id":"msg_01A"}'],
    ['a', 'a b'],
    ['a.c', 'abc'],
  ])('%j is not what %j shows', (shown, printed) => expect(isAsShown(shown, printed)).toBe(false));
});
