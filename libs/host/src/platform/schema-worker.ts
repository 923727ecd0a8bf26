// The worker thread for schemas that could take for ever to judge. It may be killed at any moment and loses nothing.
import { parentPort } from 'node:worker_threads';
import { judgeBySchema } from './schema-judge.ts';

export interface SchemaQuestion {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly value: unknown;
}

/** `ready` comes once, when everything is loaded; then one verdict for each question. */
export type SchemaReport = { readonly ready: true } | { readonly problem: string | null };

const say = (report: SchemaReport): void => parentPort?.postMessage(report);
parentPort?.on('message', ({ schema, value }: SchemaQuestion) => say({ problem: judgeBySchema(schema, value) }));
say({ ready: true });
