// What arrives for a thread that may not be there yet: it wakes the open thread of its external id, or opens one.
//
// Invariants:
//   D1. A delivery is one wake, for `claimsKeptMs` at least: its id makes the id of its message, and its claim names
//       the one thread that gets it. The thread is there before the claim, and the claim before the message; a
//       delivery that is sent again brings its message again, which the thread takes once. (ports S3, I-01)
//   D2. Of several deliveries with one external id, at once and in several processes, one opens the thread: the
//       directory gives an external id once. The id of a thread that a delivery would open follows from the delivery's.
//   D3. A closed thread is not woken: it gives up its external id, and the next thread has it. Whether a thread is
//       closed is asked of its log, not of its row, which may lag behind.
//   D4. While too much of the tenant waits for its threads, nothing is claimed or opened: the sender, or the schedule,
//       comes again. The same holds while the tenant may store no more, but for what has arrived before.
//       (tenant-limits)
import type { TenantId, ThreadKey } from '@dormouse/ports';
import { Fault } from '@dormouse/ports';
import { type MessageSchedule, type MessageSource, text } from '@dormouse/thread';
import type { IngressParts } from '../ingress-gateway/ingress-ports.ts';
import { loadThread } from '../log/thread-reader.ts';
import { inputIdOf, publicId, type RequestName, type RequestOrigin } from '../ingress-gateway/access/client-id.ts';
import { answered, type Answered } from '../ingress-gateway/refusal.ts';
import type { ThreadApi } from '../ingress-gateway/write/threads.ts';

export interface Arrival {
  readonly tenant: TenantId;
  /** A function of what arrived: the same again is the same. */
  readonly name: RequestName;
  /** The agent of a thread that it opens. */
  readonly agent: string;
  /** Null: a thread for this delivery alone. */
  readonly externalId: string | null;
  readonly text: string;
  /** What has brought it. */
  readonly from: { readonly source: MessageSource } | { readonly schedule: MessageSchedule };
}

export interface Arrived {
  /** The public id of its message. */
  readonly id: string;
  readonly threadId: string;
  /** False when it had arrived before. */
  readonly isFirst: boolean;
}

export type Deliver = (arrival: Arrival) => Promise<Answered<Arrived>>;

export type DeliverPorts = Pick<
  IngressParts,
  'directory' | 'deliveries' | 'log' | 'snapshots' | 'bus' | 'clock' | 'threads' | 'limits'
>;

/** Each round has been lost to another thread of the same external id, opened and closed meanwhile. */
const roundsMax = 10;

export function createDeliver(ports: DeliverPorts, threads: Pick<ThreadApi, 'open'>): Deliver {
  const { deliveries, bus, clock, limits } = ports;
  return async (arrival) => {
    const { tenant, name } = arrival;
    const entry = limits.mayEnter(tenant); // (D4)
    if (!entry.ok) return entry;
    const known = await deliveries.find(tenant, name);
    if (known !== null) return answered(await bring(arrival, known.thread, false));
    const room = await limits.mayStore(tenant); // (D4)
    if (!room.ok) return room;
    const place = await placeOf(arrival);
    if (!place.ok) return place;
    const claim = { tenant, id: name, thread: place.value, at: clock.now() };
    const { delivery, isFirst } = await deliveries.claim(claim); // (D1)
    return answered(await bring(arrival, delivery.thread, isFirst));
  };

  /** (D1) */
  async function bring({ tenant, name, ...arrival }: Arrival, thread: string, isFirst: boolean): Promise<Arrived> {
    const messageId = publicId('msg', name);
    const content = [text(arrival.text)];
    const input = { kind: 'UserMessage', id: inputIdOf(name), messageId, content, ...arrival.from } as const;
    await bus.publish({ tenant, thread }, input);
    return { id: messageId, threadId: thread, isFirst };
  }

  /** The open thread of its external id, or a new one. (D2, D3) */
  async function placeOf(arrival: Arrival): Promise<Answered<string>> {
    const { tenant, externalId } = arrival;
    for (let round = 0; round < roundsMax; round++) {
      const there = externalId === null ? null : await threadOf(tenant, externalId);
      if (there !== null && !(await isClosed(there))) return answered(there.thread);
      if (there !== null && externalId !== null) await ports.directory.releaseExternalId(there, externalId); // (D3)
      const opened = await threads.open(tenant, newThread(arrival), originOf(arrival));
      if (!opened.ok) return opened;
      const { id, status } = opened.value.thread;
      if (status !== 'closed' || externalId === null) return answered(id);
    }
    throw new Fault('UNAVAILABLE', 'Threads of this key are being opened and closed all the time.', {
      retryAfterMs: 1_000,
    });
  }

  async function threadOf(tenant: TenantId, externalId: string): Promise<ThreadKey | null> {
    const { data } = await ports.directory.list(tenant, { externalId }, { limit: 1, cursor: null });
    const [row] = data;
    if (row === undefined) return null;
    const found = await ports.threads.find({ tenant, thread: row.thread }); // its opening, where that was lost
    return found.ok ? found.value : null;
  }

  async function isClosed(key: ThreadKey): Promise<boolean> {
    return (await loadThread(ports, key)).thread.status === 'closed';
  }
}

const newThread = ({ agent, externalId }: Arrival) =>
  ({
    ...{ agent, externalId, agentVersion: null, userId: null, title: null, message: null, metadata: {} },
    ifExists: 'return',
  }) as const;

/** The thread's id is a function of it. (client-id K1) */
const originOf = ({ tenant, name }: Arrival): RequestOrigin => ({
  ...{ tenant, method: 'POST', path: 'delivery', idempotencyKey: name },
});
