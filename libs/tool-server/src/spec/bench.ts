// The setup of each spec: a sink, a server with tools, and a runtime's requests.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { serve } from '../serve.ts';
import type { ServeOptions } from '../define/serve-options.ts';
import type { ToolServer } from '../define/tool-server.ts';
import { type CallbackSink, startSink } from './callback-sink.ts';

export interface Bench {
  readonly sink: CallbackSink;
  readonly server: ToolServer;
  readonly log: readonly string[];
  readonly post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<Response>;
  /** Posts an invocation and returns its id. */
  readonly invoke: (operation: string, given?: unknown, extra?: Record<string, unknown>) => Promise<string>;
  /** The text of the result of such a call. */
  readonly ask: (operation: string, given?: unknown, extra?: Record<string, unknown>) => Promise<string>;
}

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

/** Undone after the test, the latest first. */
export const later = (step: () => Promise<unknown>): void => void undo.push(step);

/** A short retry pause; a slow machine's sink has time to answer, so that only a spec causes a second send. */
export const quickDelivery = { firstPauseMs: 20, pauseMsMax: 60, timeoutMs: 10_000 };

let ids = 0;
export const nextId = (): string => `call_${(ids += 1)}`;

export async function bench(options: Partial<ServeOptions> & Pick<ServeOptions, 'tools'>): Promise<Bench> {
  const sink = await startSink();
  later(sink.close);
  const log: string[] = [];
  const server = await serve({
    name: 'bench',
    delivery: quickDelivery,
    log: (line) => log.push(line),
    ...options,
    limits: { closeMsMax: 100, ...options.limits },
  });
  later(server.close);
  return { sink, server, log, ...runtimeOf(server.url, sink) };
}

export function runtimeOf(
  url: string,
  sink: Pick<CallbackSink, 'url' | 'resultOf'>,
): Pick<Bench, 'post' | 'invoke' | 'ask'> {
  const post: Bench['post'] = (path, body, headers = {}) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const invoke: Bench['invoke'] = async (operation, given = {}, extra = {}) => {
    const id = nextId();
    const body = {
      operation,
      arguments: given,
      id,
      callback_url: `${sink.url}/callback/${id}`,
      group_id: 'thr_1',
      ...extra,
    };
    const response = await post('/invoke', body);
    if (response.status !== 200) throw new Error(`the invocation was answered ${response.status}`);
    return String(body.id);
  };
  return {
    post,
    invoke,
    ask: async (operation, given, extra) =>
      (await sink.resultOf(await invoke(operation, given, extra))).text ?? 'no text',
  };
}

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tool-server-'));
  later(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
