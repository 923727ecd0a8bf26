// Takes the pictures of the console that the documents show, of a standalone process that really runs:
//
//   node --conditions=dormouse-source test/console/write-screenshots.ts
//
// Needs a build, and about a minute. Look at each picture before you commit it.
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { cleanUp } from '../e2e/standalone-process.ts';
import { root } from '../docs/document.ts';
import { startConsole } from './browser.ts';
import { positionOf, scripted, talked } from './conversations.ts';

const folder = join(root, 'docs', 'pictures');
const bytesMax = 160_000;
const size = { width: 1280, height: 760 } as const;

mkdirSync(folder, { recursive: true });
const { runtime, browser, open } = await startConsole();
try {
  await talked(runtime, 'Remind me in 900 seconds: "water the plants"', 'Sleep for 3 days.');
  await talked(runtime, 'Draw a blue square.');
  await scripted(
    runtime,
    'writer',
    [
      [
        { reasoning: 'A short list will do.' },
        { text: 'Three things to pack:\n\n1. **Boots**\n2. A warm coat\n3. `waterproof` gloves' },
      ],
    ],
    'What should I pack for Oslo?',
  );
  const thread = await talked(
    runtime,
    'What is the weather in Oslo?',
    'Spawn a thread: "Report to the parent"',
    'Delete everything.',
  );
  const called = await positionOf(runtime, thread, 'tool_call_requested');

  const shots = [
    { name: 'console-threads', path: '/threads', theme: 'light', sign: '.thread-row' },
    { name: 'console-thread', path: `/threads/${thread}`, theme: 'light', sign: '.question .json' },
    { name: 'console-inbox', path: '/inbox', theme: 'light', sign: '.inbox-row .json' },
    { name: 'console-turns', path: `/threads/${thread}?tab=turns&p=${called}`, theme: 'dark', sign: '.step .bar' },
  ] as const;
  for (const { name, path, theme, sign } of shots) {
    const { page, context } = await open(path, { ...size, theme });
    await page.locator(sign).first().waitFor();
    await page.waitForTimeout(1_000); // the stream has caught up
    const file = join(folder, `${name}.png`);
    await page.screenshot({ path: file });
    const { size: bytes } = statSync(file);
    process.stderr.write(`${file}: ${Math.round(bytes / 1_000)} kB\n`);
    if (bytes > bytesMax) throw new Error(`${name} is larger than ${bytesMax} bytes`);
    await context.close();
  }
} finally {
  await browser.close();
  await cleanUp();
}
