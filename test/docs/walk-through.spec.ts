// The README's commands, pasted into a shell before a real process.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanUp, scratchDirectory, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { readDocument } from './document.ts';
import { isAsShown, outputsOf, scriptOf, stepsOf } from './walk-through.ts';

describe('the walk-through of the README', () => {
  let folder: string; // where the person stands
  let standalone: Standalone;
  beforeAll(async () => {
    folder = await scratchDirectory();
    standalone = await startStandalone({ dataDir: join(folder, '.dormouse') });
  });
  afterAll(async () => {
    expect(await standalone.stop()).toBe(0);
    await cleanUp();
  });

  it('prints what the README shows', { timeout: 90_000 }, async () => {
    const steps = stepsOf(readDocument('README.md'));
    const script = scriptOf(steps, { 'http://127.0.0.1:7420': standalone.url });
    const ran = await bash(script, folder);
    const outputs = outputsOf(ran.stdout);
    expect(outputs).toHaveLength(steps.length);
    for (const [index, { script: typed, shown }] of steps.entries()) {
      const printed = outputs[index] ?? '';
      if (shown !== null && !isAsShown(shown, printed)) expect({ typed, printed }).toEqual({ typed, printed: shown });
    }
    expect(ran.stderr).toBe('');
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

function bash(script: string, cwd: string): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-s'], { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.on('error', reject);
    child.on('close', () => resolve({ stdout, stderr }));
    child.stdin.end(script);
  });
}
