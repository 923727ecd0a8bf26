// Loaded into the Dormouse process with --import where counts are wanted and never where time is measured: counts SQL
// statements by caller (when it is given a file for the writer's counts), timers that are alive, and when asked
// allocations and promises. Answers over IPC; changes nothing else.
//
// Invariants:
//   B9.  A statement is counted once per execution, on the thread that executes it. The caller is the layer that is
//        nearest on the (asynchronous) stack.
//   B10. The writer's thread sleeps in Atomics.wait and cannot answer, so it writes its counts to a file at each
//        COMMIT.
import { createHook } from 'node:async_hooks';
import { writeFileSync } from 'node:fs';
import { type HeapProfiler, Session } from 'node:inspector/promises';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';
import type { AllocationAnswer, ProbeAnswer, StatementCounts } from './probe-answer.ts';

const layers = ['thread-processor', 'ingress', 'tool-dispatcher', 'callback-gateway', 'notifier', 'host'];
const file = process.env['BENCH_PROBE_FILE'];
const statements: StatementCounts = {};
let timersAlive = 0;
/** Mean distance of samples. */
const samplingBytes = 4_096;

if (file !== undefined) countStatements();
if (isMainThread) {
  if (process.env['BENCH_PROBE_ALLOCATIONS'] === undefined) countTimers();
  answerQuestions();
  answerAllocations();
}

function countStatements(): void {
  Error.stackTraceLimit = 60;
  for (const name of ['run', 'get', 'all', 'iterate'] as const) {
    const original = Reflect.get(StatementSync.prototype, name) as (...values: unknown[]) => unknown;
    Reflect.set(StatementSync.prototype, name, function counted(this: StatementSync, ...values: unknown[]) {
      note(this.sourceSQL);
      return original.apply(this, values);
    });
  }
  const exec = Reflect.get(DatabaseSync.prototype, 'exec') as (sql: string) => void;
  Reflect.set(DatabaseSync.prototype, 'exec', function counted(this: DatabaseSync, sql: string) {
    note(sql);
    exec.call(this, sql);
  });
}

function note(sql: string): void {
  const caller = isMainThread ? callerOf(new Error('stack').stack ?? '') : 'writer';
  const key = `${caller}: ${sql.replaceAll(/\s+/g, ' ').trim()}`;
  statements[key] = (statements[key] ?? 0) + 1;
  if (!isMainThread && file !== undefined && sql === 'COMMIT') writeFileSync(file, JSON.stringify(statements)); // (B10)
}

function callerOf(stack: string): string {
  for (const line of stack.split('\n')) {
    const layer = layers.find((name) => line.includes(`/${name}/`));
    if (layer !== undefined) return layer; // (B9)
  }
  return 'other';
}

function countTimers(): void {
  const alive = new Set<number>();
  createHook({
    init: (id, type) => {
      if (type !== 'Timeout') return;
      alive.add(id);
      timersAlive = alive.size;
    },
    destroy: (id) => {
      if (alive.delete(id)) timersAlive = alive.size;
    },
    trackPromises: false,
  }).enable();
}

/** Live objects only, without those that a collection would free. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

function answerQuestions(): void {
  process.on('message', (question: { readonly ask: 'probe' }) => {
    if (question.ask !== 'probe') return;
    collectGarbage();
    const resources: Record<string, number> = {};
    for (const type of process.getActiveResourcesInfo()) resources[type] = (resources[type] ?? 0) + 1;
    process.send?.({ statements, timersAlive, resources, memory: process.memoryUsage() } satisfies ProbeAnswer);
  });
  process.channel?.unref();
}

/** Sampling ends before promises are counted: the hook allocates. */
function answerAllocations(): void {
  const session = new Session();
  let allocatedBytes = 0;
  let promises = 0;
  const hook = createHook({
    init: (_id, type) => {
      if (type === 'PROMISE') promises += 1;
    },
  });
  const answers: Readonly<Record<string, () => Promise<unknown>>> = {
    sample: async () => {
      session.connect();
      const all = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true };
      await session.post('HeapProfiler.startSampling', { samplingInterval: samplingBytes, ...all });
    },
    promises: async () => {
      const { profile } = await session.post('HeapProfiler.stopSampling');
      session.disconnect();
      allocatedBytes = bytesOf(profile.head);
      hook.enable();
    },
    allocated: async () => {
      hook.disable();
      return { allocatedBytes, promises } satisfies AllocationAnswer;
    },
  };
  process.on('message', ({ ask }: { readonly ask: string }) => {
    void answers[ask]?.().then((answer) => process.send?.(answer ?? 'done'));
  });
}

const bytesOf = ({ selfSize, children }: HeapProfiler.SamplingHeapProfileNode): number =>
  children.reduce((sum, child) => sum + bytesOf(child), selfSize);
