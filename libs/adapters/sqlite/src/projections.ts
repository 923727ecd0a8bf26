// Collects what the processor knows about threads and writes it later, the newest of each thread. (Y1, Y2)
import type { ThreadProjection } from '@dormouse/ports';
import type { GroupWriter } from './group-writer.ts';

export interface Projections {
  /** Resolves when these, or newer ones of the same threads, are on disk. */
  add(projections: readonly ThreadProjection[]): Promise<void>;
}

// A projection without a title says nothing about the title. An opening is of no use once the thread is open.
const update =
  "UPDATE threads SET status = ?1, title = ifnull(?2, title), updated_at = max(updated_at, ?3), position = ?4, opening = iif(?1 = 'opening', opening, NULL) " +
  'WHERE tenant = ?5 AND thread = ?6 AND position < ?4';

export function createProjections(writer: GroupWriter, delayMs: number): Projections {
  let newest = new Map<string, ThreadProjection>();
  let written: Promise<void> | null = null;

  async function writeLater(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    const rows = [...newest.values()];
    newest = new Map();
    written = null;
    await writer.rows(
      'lazy',
      update,
      rows.map((row) => [row.status, row.title, row.updatedAt, row.position, row.tenant, row.thread]),
    );
  }

  return {
    add: (projections) => {
      for (const projection of projections) {
        const name = `${projection.tenant} ${projection.thread}`;
        const known = newest.get(name);
        if (known && known.position >= projection.position) continue;
        // The title stays if the newer one says nothing about it.
        newest.set(name, { ...projection, title: projection.title ?? known?.title ?? null });
      }
      written ??= writeLater();
      return written;
    },
  };
}
