// Messages of one tenant at a fixed rate, whether the earlier ones are answered or not, spread over its threads.

/** A tenant under load. */
export interface Loaded {
  readonly name: string;
  readonly url: string;
  readonly key: string;
  readonly threads: readonly string[];
}

export interface LoadOptions {
  readonly perSecond: number;
  readonly forMs: number;
  /** Whether each request waits for its answer, whose time is taken; else for its acknowledgement. */
  readonly waits: boolean;
  /** Requests under way at once: beyond it the clients of the tenant are busy, and what is due is skipped. */
  readonly openMax: number;
}

export interface LoadResult {
  /** Milliseconds from the time at which a request was due to its answer: waiting for a late client counts. */
  readonly latencies: readonly number[];
  /** Ids of the messages that were answered 2xx, by thread. */
  readonly acknowledged: ReadonlyMap<string, readonly string[]>;
  /** Answers by status; 0 for a connection that failed. */
  readonly statuses: ReadonlyMap<number, number>;
  readonly offered: number;
  readonly skipped: number;
  /** Turns that were answered while the load was on. */
  readonly answered: number;
}

export async function openLoop({ url, key, threads }: Loaded, options: LoadOptions): Promise<LoadResult> {
  const { perSecond, forMs, waits, openMax } = options;
  const latencies: number[] = [];
  const acknowledged = new Map<string, string[]>();
  const statuses = new Map<number, number>();
  const began = performance.now();
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    ...(waits ? { prefer: 'wait=60' } : {}),
  };
  const open = new Set<Promise<void>>();
  let offered = 0;
  let skipped = 0;
  let answered = 0;

  async function send(thread: string, dueAt: number, nth: number): Promise<void> {
    try {
      const body = JSON.stringify({ text: `message ${nth}` });
      const response = await fetch(`${url}/v1/threads/${thread}/messages`, { method: 'POST', headers, body });
      const json = (await response.json()) as { readonly id?: string; readonly status?: string };
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      if (!response.ok || json.id === undefined) return;
      const ids = acknowledged.get(thread) ?? [];
      ids.push(json.id);
      acknowledged.set(thread, ids);
      if (waits && response.status !== 200) return;
      latencies.push(performance.now() - dueAt);
      if (performance.now() - began <= forMs) answered += 1;
    } catch {
      statuses.set(0, (statuses.get(0) ?? 0) + 1);
    }
  }

  for (let nth = 0; ; nth += 1) {
    const dueAt = began + (nth * 1_000) / perSecond;
    if (dueAt - began >= forMs) break;
    const waitMs = dueAt - performance.now();
    if (waitMs > 1) await new Promise((resolve) => setTimeout(resolve, waitMs));
    offered += 1;
    if (open.size >= openMax) {
      skipped += 1;
      continue;
    }
    const sent: Promise<void> = send(threads[nth % threads.length] ?? '', dueAt, nth).then(
      () => void open.delete(sent),
    );
    open.add(sent);
  }
  await Promise.all(open);
  return { latencies, acknowledged, statuses, offered, skipped, answered };
}
