// Waits for the outcome of an input. With a bus that is durable by itself, `publish` says only that it will be decided.
import type { Commit, ThreadKey } from '@dormouse/ports';
import { type FollowPorts, openHints } from './follow-commits.ts';

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
  const hints = await openHints(ports, key, withinMs, ({ hint }) => hint === 'committed');
  try {
    for (let hint: unknown = null; ; hint = await hints.take()) {
      const found = await look();
      if (found !== null || hint === 'over') return found;
    }
  } finally {
    hints.close();
  }
}
