// The verdict on one tenant, after the load: the checkers of the simulator and of the chaos runs over the logs of all
// its threads. One tenant at a time: half an hour of logs does not fit into memory at once.
import type { Commit } from '@dormouse/ports';
import { openCommit } from '@dormouse/runtime';
import { emptyHistory, type History, type SentRequest, type ThreadHistory } from '@dormouse/testing';
import { type Finding, judge } from '../../test/chaos/judge.ts';
import type { System } from '../../test/e2e/conversation.ts';
import type { RecordingToolServer } from '../../test/recovery/recording-tool-server.ts';
import type { SentMessage, TenantUnderLoad } from './client.ts';

export interface JudgedTenant {
  readonly findings: readonly Finding[];
  readonly commits: number;
  /** From each message to the end of its turn, by the times in the log. */
  readonly turnsMs: readonly number[];
}

export interface LoadSeen {
  readonly at: System;
  readonly tools: RecordingToolServer;
  readonly messages: readonly SentMessage[];
  /** Of all tenants, by tenant. */
  readonly canaries: Readonly<Record<string, string>>;
  /** Threads that are not at rest, each with its status. */
  readonly unrest: ReadonlyMap<string, string>;
}

export async function judgeTenant(seen: LoadSeen, tenant: TenantUnderLoad): Promise<JudgedTenant> {
  const own = new Set(tenant.threads);
  const sent = seen.messages.filter((message) => message.tenant === tenant.id);
  const threads: ThreadHistory[] = [];
  for (const thread of tenant.threads)
    threads.push({ key: { tenant: tenant.id, thread }, commits: await commitsOf(seen.at, tenant.key, thread) });
  const history: History = {
    ...emptyHistory,
    threads,
    requests: sent.flatMap(requestOf),
    callbacks: seen.tools.callbacks.filter(({ key }) => own.has(key.thread)),
    posts: seen.tools.posts.filter(({ thread }) => own.has(thread)),
    canaries: seen.canaries,
    unrest: tenant.threads.flatMap((thread) => {
      const status = seen.unrest.get(thread);
      return status === undefined ? [] : [`${thread} is ${status}`];
    }),
  };
  const commits = threads.reduce((sum, thread) => sum + thread.commits.length, 0);
  return { findings: judge(history, {}), commits, turnsMs: turnsOf(threads, sent) };
}

function requestOf({ tenant, thread, id, sentAt, answeredAt }: SentMessage): readonly SentRequest[] {
  if (id === null) return []; // whether it is there is not known
  const inputId = `c:${id.slice(id.indexOf('_') + 1)}`;
  return [{ key: { tenant, thread }, kind: 'message', inputId, messageId: id, sentAt, answeredAt }];
}

async function commitsOf(at: System, key: string, thread: string): Promise<readonly Commit[]> {
  const commits: Commit[] = [];
  for (let cursor = ''; ;) {
    const { status, json } = await at.request('GET', `/v1/threads/${thread}/commits?limit=200${cursor}`, undefined, {
      key,
    });
    if (status !== 200) throw new Error(`the commits of ${thread} were answered ${status}`);
    const page = json as { readonly data: readonly Commit[]; readonly next_cursor: string | null };
    commits.push(...page.data);
    if (page.next_cursor === null || page.data.length === 0) return commits;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

/** Messages that have waited for the same turn share the next one: a message ends with the first answer after it. */
function turnsOf(threads: readonly ThreadHistory[], sent: readonly SentMessage[]): readonly number[] {
  const endOf = new Map<string, number>();
  for (const { commits } of threads) {
    let open: string[] = [];
    for (const commit of commits)
      for (const event of openCommit(commit).events) {
        if (event.type === 'MessageAccepted') open.push(event.messageId);
        if (event.type !== 'CompletionRecorded' || !event.final) continue;
        for (const message of open) endOf.set(message, commit.at);
        open = [];
      }
  }
  return sent.flatMap(({ id, sentAt, ackMs }) => {
    const end = id === null || ackMs === null ? undefined : endOf.get(id);
    return end === undefined ? [] : [end - sentAt];
  });
}
