// How much of the data directory is in use, and a warning above a bound that the operator sets. Nothing is refused and
// nothing removed for it: what is removed is decided by retention.
//
// Invariants:
//   W1. Pages of the database that no row uses do not count: they are used again before the file grows.
//   W2. A crossing of the bound is reported once, and again each `againMs` while it lasts.
import type { Logger, Metrics } from '@dormouse/ports';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

export interface DataDirectoryWatchDeps {
  readonly directory: string;
  /** Null for no bound. */
  readonly warnBytes: number | null;
  readonly reusableBytes: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

const lookEveryMs = 60_000;
const againMs = 3_600_000;

/** Looks until the returned function is called. */
export function watchDataDirectory(deps: DataDirectoryWatchDeps): () => void {
  const { directory, warnBytes, logger, metrics } = deps;
  const inUse = async (): Promise<number> => Math.max(0, (await sizeOf(directory)) - deps.reusableBytes()); // (W1)
  metrics.gauge('dormouse_data_directory_bytes', async (report) => report(await inUse()));
  metrics.gauge('dormouse_data_directory_warn_bytes', (report) => report(warnBytes ?? 0));
  if (warnBytes === null) return () => {};
  let toldAt: number | null = null;
  const look = async (): Promise<void> => {
    const bytes = await inUse();
    if (bytes <= warnBytes) toldAt = null;
    else if (toldAt === null || performance.now() - toldAt >= againMs) {
      toldAt = performance.now();
      logger.warn('data_directory_large', { directory, bytes, warnBytes }); // (W2)
    }
  };
  const lookSafely = (): void =>
    void look().catch((error: unknown) => logger.warn('data_directory_unread', { directory, reason: String(error) }));
  lookSafely();
  const timer = setInterval(lookSafely, lookEveryMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** A file that goes away meanwhile has no size. */
async function sizeOf(directory: string): Promise<number> {
  const entries = await readdir(directory, { withFileTypes: true });
  const sizes = entries.map(async (entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return sizeOf(path).catch(unlessGone);
    return entry.isFile() ? stat(path).then(({ size }) => size, unlessGone) : 0;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

function unlessGone(error: unknown): number {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 0;
  throw error;
}
