// A watcher of a thread: connects, reads, loses the connection, resumes after the last event it received. I-19
import type { Clock, ThreadKey } from '@dormouse/ports';
import type { Frame, Ingress } from '@dormouse/runtime';
import type { SeenStream } from '../../invariants/history.ts';
import type { Random } from '../world/random.ts';
import type { Process } from '../world/scheduler.ts';

export interface WatcherDeps {
  readonly key: ThreadKey;
  readonly random: Random;
  readonly clock: Clock;
  /** Some living ingress; null when there is none. */
  readonly ingress: () => { readonly process: Process; readonly serve: Ingress } | null;
  readonly counted: (path: string) => void;
  readonly surprised: (text: string) => void;
}

export interface Watcher {
  readonly stream: SeenStream;
  /** Ends watching for good. */
  stop(): void;
}

/** A reader that receives nothing for this long connects again. */
const silenceMsMax = 1_500;

export function startWatcher({ key, random, clock, ingress, counted, surprised }: WatcherDeps): Watcher {
  const events: { position: number; type: string }[] = [];
  let stopped = false;

  async function watch(): Promise<void> {
    while (!stopped) {
      await clock.sleep(20 + random.below(400));
      const up = ingress();
      if (up === null) continue;
      counted('watcher connected');
      await connection(up.process, up.serve).catch(() => undefined); // after any failure it connects again
    }
  }

  async function connection(process: Process, serve: Ingress): Promise<void> {
    const { node } = process;
    const hangUp = new AbortController();
    const isUp = (): boolean => process.alive && process.node === node && !stopped;
    let heard = 0;
    const silence = listen(() => heard, hangUp.signal);
    const frames = await Promise.race([serve.follow.follow(key, events.at(-1)?.position ?? 0, hangUp.signal), silence]);
    if (frames === null || !frames.ok) {
      if (frames !== null && frames.refusal.code !== 'NOT_FOUND')
        surprised(`the stream of ${key.thread} was refused: ${JSON.stringify(frames)}`);
    } else if (frames.value === 'nothing_newer') {
      await silence;
    } else {
      const reader = frames.value[Symbol.asyncIterator]();
      while (isUp() && !random.chance(0.02)) {
        const next = await Promise.race([reader.next(), silence]);
        if (next === null || next.done === true || !isUp()) break;
        heard += 1;
        take(next.value);
      }
    }
    hangUp.abort();
  }

  /** Null when nothing has come for a while: the process is dead, or there is nothing new. */
  async function listen(heard: () => number, signal: AbortSignal): Promise<null> {
    for (let before = -1; before !== heard() && !signal.aborted;) {
      before = heard();
      await clock.sleep(silenceMsMax, signal);
    }
    return null;
  }

  function take(frame: Frame): void {
    if (frame.frame === 'event') events.push({ position: frame.event.position, type: frame.event.type });
  }

  void watch();
  return {
    stream: { key, events },
    stop: () => {
      stopped = true;
    },
  };
}
