// A client that follows all threads of the tenant and notes, by its own clock, when it could read each answer. The
// moment of a commit is by the clock of the process that wrote it: where clocks differ, no client saw the answer then.
import { setTimeout as sleep } from 'node:timers/promises';
import type { AnsweredAt } from '../chaos/neighbours.ts';
import type { System } from '../e2e/conversation.ts';

export interface AnswerWatch {
  /** Reads what is left. The result throws for an answer that was never seen: ended before its turn, or skipped. */
  end(): Promise<AnsweredAt>;
}

interface Row {
  readonly thread_id: string;
  readonly position: number;
  readonly type: string;
}

/** Between two looks at the end of the log: how coarse the times are, in milliseconds. */
const lookEveryMs = 50;
const unreachableMs = 250;
const pageMax = 200;

export function watchAnswers(request: System['request']): AnswerWatch {
  const seen = new Map<string, number>();
  let ending = false;

  async function follow(): Promise<void> {
    for (let cursor = ''; ;) {
      const last = ending;
      const page = await pageAfter(cursor);
      if (page === null) {
        await sleep(unreachableMs);
        continue;
      }
      for (const { thread_id, position, type } of page.data)
        if (type === 'completion_recorded') seen.set(`${thread_id}/${position}`, Date.now());
      cursor = page.next_cursor;
      if (page.data.length >= pageMax) continue;
      if (last) return;
      await sleep(lookEveryMs);
    }
  }

  /** Null while no gateway answers. */
  async function pageAfter(cursor: string): Promise<{ data: readonly Row[]; next_cursor: string } | null> {
    try {
      const after = cursor === '' ? '' : `&after=${cursor}`;
      const { status, json } = await request('GET', `/v1/events?limit=${pageMax}${after}`, undefined, {});
      return status === 200 ? (json as { data: readonly Row[]; next_cursor: string }) : null;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // a connection that was cut or refused
      return null;
    }
  }

  const followed = follow();
  followed.catch(() => {}); // told at the end
  return {
    end: async () => {
      ending = true;
      await followed;
      return (thread, { position }) => {
        const at = seen.get(`${thread}/${position}`);
        if (at === undefined)
          throw new Error(`the answer at ${thread}/${position} was never seen by the watching client`);
        return at;
      };
    },
  };
}
