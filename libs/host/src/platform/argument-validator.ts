// Validates the arguments of a tool call before anything is sent. R8 The schema is untrusted: it may be a bomb.
//
// Invariants:
//   A1. What could take long (references, patterns, much schema for much argument) is judged in a worker thread, which
//       is killed after `judgeMsMax`; the process never waits for a schema. The time limit ends it long before its
//       memory does: a thread that reaches its memory limit during a garbage collection makes V8 end the whole process.
//   A2. A schema that cannot be judged stops no call: the tool server judges its arguments itself, as the protocol
//       demands.
//   A3. One call is judged at a time, and only that one is given up when its time is over. A schema that was given up
//       waits behind all that were not, so a hostile one costs the others `judgeMsMax` once.
import { hash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { Logger } from '@dormouse/ports';
import type { ValidateArguments } from '@dormouse/runtime';
import { judgeBySchema } from './schema-judge.ts';
import type { SchemaQuestion, SchemaReport } from './schema-worker.ts';

const judgeMsMax = 500;
/** Without references each part of a schema meets each part of the arguments once: the product of their lengths. */
const quickWorkMax = 200_000;
const slowKeyword = /"(\$ref|\$dynamicRef|\$recursiveRef|pattern|patternProperties|format|uniqueItems)":/;
/** A multiple of what can be allocated within `judgeMsMax`. (A1) */
const threadMemoryMb = 1_024;
/** Schemas that are remembered as slow. */
const suspectsMax = 1_000;

export interface ArgumentValidator {
  readonly validate: ValidateArguments;
  close(): Promise<void>;
}

/** A call whose arguments wait for the worker thread, or are judged there. */
interface Asked extends SchemaQuestion {
  /** Hash of the schema's text. */
  readonly name: string;
  readonly resolve: (problem: string | null) => void;
}

interface Measured {
  readonly name: string;
  /** Characters of a schema; infinite for one with a slow keyword. */
  readonly weight: number;
}

export function createArgumentValidator(logger: Logger): ArgumentValidator {
  const measured = new WeakMap<object, Measured>();
  const waiting: Asked[] = [];
  /** Names of schemas that took too long. (A3) */
  const suspects = new Set<string>();
  let judged: Asked | null = null;
  let timer: NodeJS.Timeout | undefined;
  let worker: Worker | null = null;
  let running: Promise<Worker> | null = null;

  function measure(schema: Readonly<Record<string, unknown>>): Measured {
    const known = measured.get(schema);
    if (known !== undefined) return known;
    const text = JSON.stringify(schema);
    const weight = slowKeyword.test(text) ? Number.POSITIVE_INFINITY : text.length;
    const measures = { name: hash('sha256', text), weight };
    measured.set(schema, measures);
    return measures;
  }

  const isQuick = (schema: Readonly<Record<string, unknown>>, value: unknown): boolean =>
    measure(schema).weight * JSON.stringify(value).length <= quickWorkMax;

  function answer(problem: string | null): void {
    clearTimeout(timer);
    const answered = judged;
    judged = null;
    answered?.resolve(problem);
    judgeNext();
  }

  /** (A3) */
  function judgeNext(): void {
    if (judged !== null) return;
    const at = waiting.findIndex(({ name }) => !suspects.has(name));
    const next = waiting.splice(Math.max(0, at), 1)[0];
    if (next === undefined) return;
    judged = next;
    const { schema, value } = next;
    void thread().then((started) => {
      timer = setTimeout(() => giveUp('it took too long'), judgeMsMax); // (A1)
      started.postMessage({ schema, value } satisfies SchemaQuestion);
    });
  }

  /** The thread is stuck or gone: its call goes on unjudged, and another thread judges the others. (A2, A3) */
  function giveUp(reason: string): void {
    logger.warn('schema_not_judged', { reason, waiting: waiting.length });
    void worker?.terminate();
    worker = null;
    running = null;
    if (suspects.size >= suspectsMax) suspects.clear();
    if (judged !== null) suspects.add(judged.name);
    answer(null);
  }

  /** The thread, once it has loaded: its start does not count against the schema. */
  function thread(): Promise<Worker> {
    return (running ??= new Promise((resolve) => {
      const file = new URL(`./schema-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
      const started = new Worker(file, { resourceLimits: { maxOldGenerationSizeMb: threadMemoryMb } });
      worker = started;
      started.unref();
      started.on('message', (report: SchemaReport) => {
        if (started !== worker) return;
        if ('ready' in report) resolve(started);
        else answer(report.problem);
      });
      started.on('error', (error) => started === worker && giveUp(error.message));
    }));
  }

  return {
    validate: async ({ inputSchema: schema }, value) => {
      if (isQuick(schema, value)) return judgeBySchema(schema, value);
      const { promise, resolve } = Promise.withResolvers<string | null>();
      waiting.push({ schema, value, name: measure(schema).name, resolve });
      judgeNext();
      return promise;
    },
    async close() {
      const last = worker;
      worker = null;
      await last?.terminate();
      for (const { resolve } of waiting.splice(0)) resolve(null);
      answer(null);
    },
  };
}
