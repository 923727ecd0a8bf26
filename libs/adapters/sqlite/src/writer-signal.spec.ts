import { Worker } from 'node:worker_threads';
import { describe, expect, it, vi } from 'vitest';
import { createWriterSignal, signalBytes } from './writer-signal.ts';

describe('the signal of the writer', () => {
  it('N1: what was posted after `seen` is not slept over, nor waited for awake', () => {
    const signal = createWriterSignal(new SharedArrayBuffer(signalBytes));
    const seen = signal.posts();
    signal.post();
    expect(signal.posts()).toBe(seen + 1);
    expect(signal.sleep(seen, undefined)).toBe('not-equal');
    const began = performance.now();
    expect(signal.watch(seen, 10_000)).toBe(true);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it('a wake ends the sleep of the other thread, though nothing is posted', async () => {
    const memory = new SharedArrayBuffer(signalBytes);
    const sleeper = new Worker(
      `const { parentPort, workerData } = require('node:worker_threads');
       import(workerData.module).then(({ createWriterSignal }) => {
         const signal = createWriterSignal(workerData.memory);
         parentPort.postMessage(signal.sleep(signal.posts(), 20_000));
       });`,
      { eval: true, workerData: { memory, module: new URL('writer-signal.ts', import.meta.url).href } },
    );
    const told: unknown[] = [];
    sleeper.on('message', (message) => told.push(message));
    const signal = createWriterSignal(memory);
    await vi.waitFor(
      () => {
        signal.wake();
        expect(told).toEqual(['ok']);
      },
      { timeout: 10_000, interval: 5 },
    );
    expect(signal.posts()).toBe(0);
    await sleeper.terminate();
  });

  it('N2: a wake for nothing ends by itself, and one that comes while nobody sleeps is forgotten', () => {
    const signal = createWriterSignal(new SharedArrayBuffer(signalBytes));
    const seen = signal.posts();
    signal.wake();
    expect(signal.sleep(seen, 5)).toBe('timed-out');
    expect(signal.watch(seen, 1)).toBe(false);
    expect(signal.posts()).toBe(seen);
  });
});
