// Waiting for what becomes of an input. Where the bus is durable by itself, `publish` says only that it will be decided.
import type { Commit, ThreadKey } from '@dormouse/ports';
import { type FollowPorts, holdHints } from './follow-commits.ts';

/** The commit that decided the input, as soon as it is there; null when that takes longer than `withinMs`. */
export async function decidedCommit(
  ports: FollowPorts,
  key: ThreadKey,
  inputId: string,
  withinMs: number,
): Promise<Commit | null> {
  const look = async (): Promise<Commit | null> => (await ports.log.findByInputs(key, [inputId]))[0] ?? null;
  const already = await look();
  if (already !== null) return already;
  const over = new AbortController();
  void ports.clock.sleep(withinMs, over.signal).then(() => over.abort('over'));
  try {
    const hints = await holdHints(ports, key, over.signal, ({ hint }) => (hint === 'committed' ? 'wakes' : 'unwanted'));
    for (;;) {
      const isLast = over.signal.aborted;
      const found = await look();
      if (found !== null || isLast) return found;
      await hints.take();
    }
  } finally {
    over.abort('over');
  }
}
