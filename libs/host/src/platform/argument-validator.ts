// Validates the arguments of a tool call before anything is sent. R8 The schema is a stranger's: it may be a bomb.
//
// Invariants:
//   A1. What could take long (references, patterns, much schema for much argument) is judged in a thread of its own, which is
//       killed after `judgeMsMax`; the process never waits for a schema. Time ends it long before its memory does: where a
//       thread reaches its limit in the middle of a collection, V8 ends the whole process.
//   A2. A schema that cannot be judged stops no call: the tool server judges its arguments itself, as the protocol demands.
import { Worker } from 'node:worker_threads';
import type { Logger } from '@dormouse/ports';
import type { ValidateArguments } from '@dormouse/runtime';
import { judgeBySchema } from './schema-judge.ts';
import type { SchemaQuestion, SchemaVerdict } from './schema-worker.ts';

const judgeMsMax = 500;
/** Without references each part of a schema meets each part of the arguments once: characters of the one times the other's. */
const quickWorkMax = 200_000;
const slowKeyword = /"(\$ref|\$dynamicRef|\$recursiveRef|pattern|patternProperties|format|uniqueItems)":/;
/** Some times what can be allocated within `judgeMsMax`. (A1) */
const threadMemoryMb = 1_024;

export interface ArgumentValidator {
  readonly validate: ValidateArguments;
  close(): Promise<void>;
}

interface Waiting {
  readonly resolve: (problem: string | null) => void;
  readonly timer: NodeJS.Timeout;
}

export function createArgumentValidator(logger: Logger): ArgumentValidator {
  const weights = new WeakMap<object, number>();
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let running: Promise<Worker> | null = null;
  let questions = 0;

  /** Characters of a schema; no number is large enough for one that has a slow keyword. */
  function weightOf(schema: Readonly<Record<string, unknown>>): number {
    const known = weights.get(schema);
    if (known !== undefined) return known;
    const text = JSON.stringify(schema);
    const weight = slowKeyword.test(text) ? Number.POSITIVE_INFINITY : text.length;
    weights.set(schema, weight);
    return weight;
  }

  const isQuick = (schema: Readonly<Record<string, unknown>>, value: unknown): boolean =>
    weightOf(schema) * JSON.stringify(value).length <= quickWorkMax;

  function answer({ id, problem }: SchemaVerdict): void {
    const asked = waiting.get(id);
    if (asked === undefined) return;
    clearTimeout(asked.timer);
    waiting.delete(id);
    asked.resolve(problem);
  }

  /** The thread is stuck or gone: everyone who waits for it goes on. (A2) */
  function giveUp(reason: string): void {
    if (worker === null) return;
    logger.warn('schema_not_judged', { reason, calls: waiting.size });
    void worker.terminate();
    worker = null;
    running = null;
    for (const id of waiting.keys()) answer({ id, problem: null });
  }

  /** The thread, once it runs: its start is not held against the schema. */
  function thread(): Promise<Worker> {
    return (running ??= new Promise((resolve) => {
      const file = new URL(`./schema-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
      const started = new Worker(file, { resourceLimits: { maxOldGenerationSizeMb: threadMemoryMb } });
      worker = started;
      started.unref();
      started.on('message', answer);
      started.on('error', (error) => started === worker && giveUp(error.message));
      started.on('online', () => resolve(started));
    }));
  }

  async function ask(schema: Readonly<Record<string, unknown>>, value: unknown): Promise<string | null> {
    const started = await thread();
    const id = ++questions;
    return new Promise((resolve) => {
      waiting.set(id, { resolve, timer: setTimeout(() => giveUp('it took too long'), judgeMsMax) }); // (A1)
      started.postMessage({ id, schema, value } satisfies SchemaQuestion);
    });
  }

  return {
    validate: ({ inputSchema: schema }, value) =>
      isQuick(schema, value) ? judgeBySchema(schema, value) : () => ask(schema, value),
    async close() {
      const last = worker;
      worker = null;
      await last?.terminate();
      for (const id of waiting.keys()) answer({ id, problem: null });
    },
  };
}
