// Rewrites commits of a memory world without their contents. Port: ports/stores/content-eraser.ts.
import type { Commit, ContentEraser } from '@dormouse/ports';
import type { Passage } from '../../gate.ts';
import { type LogStore, nameOf } from '../../log/thread-log.ts';

export function createContentEraser(log: LogStore, passage: Passage): ContentEraser {
  function rewrite(commit: Commit): void {
    const thread = log.threads.get(nameOf(commit));
    const place = thread?.commits.findIndex(({ version }) => version === commit.version) ?? -1;
    const before = thread?.commits[place];
    if (thread === undefined || before === undefined) return;
    const { kid, prev, hash, body } = commit;
    const after = Object.freeze({ ...before, kid, prev, hash, body });
    thread.commits[place] = after;
    log.arrived[log.arrived.indexOf(before)] = after;
    for (const input of after.inputs) thread.byInput.set(input, after);
  }

  return {
    rewrite: (commits) =>
      passage.write('contentEraser.rewrite', commits[0]?.thread ?? '', () => {
        for (const commit of commits) rewrite(commit);
      }),
    scrub: () => passage.write('contentEraser.scrub', '', () => {}),
    traces: { memory: 'Nothing is left.' },
  };
}
