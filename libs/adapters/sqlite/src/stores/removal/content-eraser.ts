// Rewrites commits without their contents, and leaves no byte of what was deleted. Port:
// ports/stores/content-eraser.ts.
//
// Invariants:
//   Z1. What the writer deletes or replaces is overwritten in the pages of the file (secure_delete); older pages of it
//       are in the write-ahead log until that is emptied. What a release before this one has deleted may be in free
//       pages: then the file is written anew, which stops other writes for a while.
import { type ContentEraser, Fault } from '@dormouse/ports';
import type { GroupWriter } from '../../writer/group-writer.ts';

const rewrite =
  'UPDATE commits SET kid = ?, prev = ?, hash = ?, body = ? ' +
  'WHERE number = (SELECT number FROM thread_numbers WHERE tenant = ? AND thread = ?) AND version = ?';

const atOnce = 500;

export function createContentEraser(writer: GroupWriter): ContentEraser {
  return {
    rewrite: async (commits) => {
      for (let from = 0; from < commits.length; from += atOnce)
        await writer.rows(
          'prompt',
          rewrite,
          commits
            .slice(from, from + atOnce)
            .map(({ kid, prev, hash, body, tenant, thread, version }) => [
              ...[kid, prev, hash, body, tenant, thread],
              version,
            ]),
        );
    },
    scrub: async (wasClear) => {
      if (!(await writer.scrub(wasClear))) throw new Fault('UNAVAILABLE', 'The write-ahead log cannot be emptied now.'); // (Z1)
    },
    traces: {
      sqlite: 'Keys, copies and labels are deleted and overwritten; the write-ahead log was emptied.',
      backups: 'A backup of before has the keys. After a restore: dormouse erasures apply',
    },
  };
}
