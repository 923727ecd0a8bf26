// One consumer in one process: fetches the records of its partitions, commits the low watermark of the released ones.
//
// Invariants:
//   K5. A position moves only when the records have arrived: a fetch that fails is repeated.
//   K6. Watermark and open offsets belong to one assignment (partition, generation); the next one starts empty from the
//       committed offset. (V6)
//   K7. The committed offset never passes a record that is not released.
//   K10. One loop fetches from each broker. A fetch belongs to the positions that it was sent with: an answer that
//       comes after the member has joined again is dropped. (kafka C7)
import { Fault, type Clock } from '@dormouse/ports';
import {
  type Broker,
  brokers,
  type BusRecord,
  type Fetch,
  type Member,
  type Polled,
  type TopicName,
} from './broker.ts';
import type { Passage } from '../gate.ts';

/** What one assignment holds in memory. */
export interface Claim {
  readonly partition: number;
  readonly generation: number;
  revoked: boolean;
  /** Offset after the last record delivered. */
  next: number;
  readonly open: Set<number>;
  committed: number;
  committing: boolean;
}

export interface MemberHandlers {
  assigned(claim: Claim): void;
  revoked(claim: Claim): Promise<void>;
  /** Returns at once; `release` is called when nothing depends on the record any more. */
  record(claim: Claim, record: BusRecord, release: () => void): void;
  busy(): boolean;
}

export interface MemberDeps {
  readonly node: string;
  readonly topic: TopicName;
  readonly broker: Broker;
  readonly passage: Passage;
  readonly clock: Clock;
}

export interface GroupMember {
  close(withinMs: number): Promise<void>;
}

const retryDelayMs = 50;
const busyDelayMs = 10;

/** Resolves when the first assignment has been made. */
export async function joinGroup(deps: MemberDeps, handlers: MemberHandlers): Promise<GroupMember> {
  const member = createMember(deps, handlers);
  await member.joined;
  return member;
}

function createMember(
  { node, topic, broker: log, passage, clock }: MemberDeps,
  handlers: MemberHandlers,
): GroupMember & { readonly joined: Promise<void> } {
  let closing = false;
  let signal = createSignal();
  let claims = new Map<number, Claim>();
  const joined = createSignal();
  const drained = createSignal();
  let joining: Promise<void> | null = null;
  const member: Member = { node, generation: -1, positions: new Map(), leaders: [], wake };

  function wake(): void {
    signal.fire();
    signal = createSignal();
  }

  /** The loop of one broker. (K10) */
  async function run(broker: number): Promise<void> {
    while (!closing) {
      const { fired } = signal;
      if (claims.size > 0 && handlers.busy()) {
        await clock.sleep(busyDelayMs);
        continue;
      }
      const { positions } = member;
      const fetch: Fetch = { broker, positions, from: new Map(positions) };
      const polled = await passage.read(`${topic}.poll`, node, () => log.poll(topic, member, fetch)).catch(failed);
      if (closing) break;
      if (polled === null) await clock.sleep(retryDelayMs);
      else if (polled.polled === 'nothing') await fired;
      else if (polled.polled === 'assignment') await join(polled);
      else deliver(polled);
    }
  }

  /** One join at a time, whichever loop is the first to need it. */
  function join(polled: Extract<Polled, { polled: 'assignment' }>): Promise<void> {
    joining ??= assign(polled).finally(() => {
      joining = null;
      wake();
    });
    return joining;
  }

  async function assign({ generation, offsets, leaders }: Extract<Polled, { polled: 'assignment' }>): Promise<void> {
    await revokeAll();
    if (closing) return;
    member.generation = generation;
    member.leaders = leaders;
    for (const [partition, offset] of offsets) {
      const claim: Claim = {
        partition,
        generation,
        revoked: false,
        next: offset,
        open: new Set(),
        committed: offset,
        committing: false,
      };
      claims.set(partition, claim);
      member.positions.set(partition, offset);
      handlers.assigned(claim);
    }
    joined.fire();
  }

  async function revokeAll(): Promise<void> {
    const old = [...claims.values()];
    claims = new Map();
    member.positions = new Map();
    for (const claim of old) claim.revoked = true;
    await Promise.all(old.map((claim) => handlers.revoked(claim)));
  }

  function deliver({ positions, partition, offset, records }: Extract<Polled, { polled: 'records' }>): void {
    const claim = claims.get(partition);
    if (claim === undefined || positions !== member.positions) return; // (K10)
    if (offset < claim.next) return; // two brokers have answered: a zombie learns of no move
    // The partition that has just been read goes to the end, so that none starves the others.
    member.positions.delete(partition);
    member.positions.set(partition, offset + records.length); // (K5)
    for (const [index, record] of records.entries()) {
      claim.open.add(offset + index);
      claim.next = offset + index + 1;
      handlers.record(claim, record, () => release(claim, offset + index));
    }
  }

  function release(claim: Claim, offset: number): void {
    if (claim.revoked || !claim.open.delete(offset)) return;
    if (isIdle()) drained.fire();
    if (!claim.committing) void commit(claim);
  }

  async function commit(claim: Claim): Promise<void> {
    claim.committing = true;
    while (!claim.revoked && lowWatermark(claim) > claim.committed) {
      const low = lowWatermark(claim);
      const done = await passage
        .write(`${topic}.commit`, `${claim.partition}@${low}`, () =>
          log.commit(topic, member, claim.generation, claim.partition, low),
        )
        .catch(failed);
      if (done === null) await clock.sleep(retryDelayMs);
      else claim.committed = low;
    }
    claim.committing = false;
  }

  const isIdle = (): boolean => [...claims.values()].every((claim) => claim.open.size === 0);

  async function close(withinMs: number): Promise<void> {
    closing = true;
    wake();
    if (!isIdle()) await Promise.race([drained.fired, clock.sleep(withinMs)]);
    for (const claim of claims.values()) if (!claim.committing) await commit(claim);
    await Promise.race([Promise.all([revokeAll(), ended]), clock.sleep(withinMs)]);
    await passage.write(`${topic}.leave`, node, () => log.leave(topic, member)).catch(failed);
  }

  const ended = Promise.all(brokers.map(run));
  return { joined: joined.fired, close };
}

/** The first offset that is not released. (K7) */
export function lowWatermark(claim: Claim): number {
  let low = claim.next;
  for (const offset of claim.open) if (offset < low) low = offset;
  return low;
}

/** A broker that cannot be reached is asked again; any other error is a bug and is thrown. */
function failed(reason: unknown): null {
  if (reason instanceof Fault) return null;
  throw reason;
}

interface Signal {
  readonly fired: Promise<void>;
  fire(): void;
}

export function createSignal(): Signal {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { fired: promise, fire: resolve };
}
