// Starts `restart-child.ts` in a process of its own, for specs that kill it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Bench, later, runtimeOf } from './bench.ts';
import { type CallbackSink, eventually } from './callback-sink.ts';

export interface Child extends Pick<Bench, 'post' | 'invoke' | 'ask'> {
  readonly url: string;
  readonly printed: () => string;
  /** SIGKILL to this one process. */
  readonly kill: () => Promise<void>;
}

const script = fileURLToPath(new URL('./restart-child.ts', import.meta.url));

/** `sink` is where the results of its `invoke` go. */
export async function start(dataDir: string, sink: Pick<CallbackSink, 'url' | 'resultOf'>): Promise<Child> {
  const child: ChildProcess = spawn(process.execPath, ['--conditions=dormouse-source', script, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const exited = once(child, 'exit');
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  later(kill);
  await eventually(() => printed.includes('ready ') || child.exitCode !== null, 'the start');
  const url = /ready (\S+)/.exec(printed)?.[1];
  if (url === undefined) throw new Error(`the tool server ended with ${child.exitCode} at its start`);
  return { ...runtimeOf(url, sink), url, printed: () => printed, kill };
}
