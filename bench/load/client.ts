// The clients of all tenants, in a thread of their own: messages at a fixed rate, one tenant after the other, each over
// its threads. A message that is not answered is sent again under its key, like any client's.
import type { TenantId } from '@dormouse/ports';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, Worker, workerData } from 'node:worker_threads';

export interface TenantUnderLoad {
  readonly id: TenantId;
  readonly key: string;
  readonly threads: readonly string[];
}

export interface LoadOrder {
  readonly url: string;
  readonly tenants: readonly TenantUnderLoad[];
  readonly perSecond: number;
  /** Sent like the rest, and left out of the times. */
  readonly warmMs: number;
  readonly forMs: number;
}

export interface SentMessage {
  readonly tenant: TenantId;
  readonly thread: string;
  /** `msg_…`; null without a 2xx. */
  readonly id: string | null;
  readonly sentAt: number;
  readonly answeredAt: number | null;
  /** From the time at which it was due to its 2xx; null while warming up, and without one. */
  readonly ackMs: number | null;
}

export interface LoadSent {
  readonly messages: readonly SentMessage[];
  /** Answers by status; 0 for a connection that failed. */
  readonly statuses: ReadonlyMap<number, number>;
}

/** A message that has no 2xx after so long is given up. */
const answerWithinMs = 60_000;

export function sendLoad(order: LoadOrder): Promise<LoadSent> {
  const worker = new Worker(new URL(import.meta.url), { workerData: order });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

async function send(order: LoadOrder): Promise<LoadSent> {
  const { tenants, perSecond, warmMs, forMs } = order;
  const messages: SentMessage[] = [];
  const statuses = new Map<number, number>();
  const open = new Set<Promise<void>>();
  const began = performance.now();
  const dueMsOf = (nth: number): number => (nth * 1_000) / perSecond;

  async function post({ id: tenant, key }: TenantUnderLoad, thread: string, nth: number): Promise<void> {
    const dueAt = began + dueMsOf(nth);
    const headers = {
      ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      'idempotency-key': `load-${nth}`,
    };
    const body = JSON.stringify({ text: `message ${nth} of canary-${tenant}.` });
    const sentAt = Date.now();
    for (let waitMs = 100; performance.now() - dueAt < answerWithinMs; waitMs = Math.min(2_000, waitMs * 2)) {
      const { status, id } = await once(`${order.url}/v1/threads/${thread}/messages`, headers, body);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (id !== null) {
        const ackMs = dueMsOf(nth) < warmMs ? null : performance.now() - dueAt;
        return void messages.push({ tenant, thread, id, sentAt, answeredAt: Date.now(), ackMs });
      }
      await sleep(waitMs);
    }
    messages.push({ tenant, thread, id: null, sentAt, answeredAt: null, ackMs: null });
  }

  for (let nth = 0; ; nth += 1) {
    if (dueMsOf(nth) >= warmMs + forMs) break;
    const waitMs = began + dueMsOf(nth) - performance.now();
    if (waitMs > 1) await sleep(waitMs);
    const tenant = tenants[nth % tenants.length];
    const thread = tenant?.threads[Math.floor(nth / tenants.length) % tenant.threads.length];
    if (tenant === undefined || thread === undefined) throw new Error('no tenant has a thread');
    const sent: Promise<void> = post(tenant, thread, nth).then(() => void open.delete(sent));
    open.add(sent);
  }
  await Promise.all(open);
  return { messages, statuses };
}

async function once(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<{ readonly status: number; readonly id: string | null }> {
  try {
    const response = await fetch(url, { method: 'POST', headers, body });
    const { id = null } = (await response.json()) as { readonly id?: string };
    return { status: response.status, id: response.ok ? id : null };
  } catch {
    return { status: 0, id: null };
  }
}

if (parentPort !== null) parentPort.postMessage(await send(workerData as LoadOrder));
