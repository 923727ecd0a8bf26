// The thread in which schemas are judged that could take for ever. It may be killed at any moment and loses nothing.
import { parentPort } from 'node:worker_threads';
import { judgeBySchema } from './schema-judge.ts';

export interface SchemaQuestion {
  readonly id: number;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly value: unknown;
}

export interface SchemaVerdict {
  readonly id: number;
  readonly problem: string | null;
}

parentPort?.on('message', ({ id, schema, value }: SchemaQuestion) => {
  parentPort?.postMessage({ id, problem: judgeBySchema(schema, value) } satisfies SchemaVerdict);
});
