// Hints over Redis: a channel per thread, and a list of the running completion's deltas. Port: ports/bus/live-feed.ts.
//
// Invariants:
//   F1. Publishing waits for nothing and never fails. Hints of one process arrive in its order.
//   F2. A subscription outlives an outage: the channels of this process are subscribed again when Redis is back.
//   F3. The list belongs to one attempt of one completion: another attempt restarts it, the commit that ends the
//       completion deletes it, and it expires if its process dies. It is bounded; what does not fit is only missing for
//       late clients.
//   F4. Deltas of the model are gathered for a moment and sent together, at once with a commit of their thread. They
//       are in the list before they are published: a late client misses nothing. A completion that ends within the
//       moment needs no list.
//   F5. A channel without a listener is kept for a while: in a conversation the next listener comes soon.
//   F6. All that is sent in one tick of the event loop is one command, whatever its channels and lists: commits of many
//       threads are stored together, and a command costs more than what it carries. It is bounded: Redis does nothing
//       else meanwhile.
//   F7. A third key is a list with what the completion waits for since its last attempt failed; the deltas of a later
//       attempt delete it, or it expires.
//   F8. Where keys are spread over the nodes of a cluster, the keys of one thread are in one slot, and what is sent of
//       one thread in a tick is one command at its node. All hints of a thread go the same way, so they stay in order.
import { readJson } from '@dormouse/json';
import type { Delta, Hint, LiveFeed, Retrying, ThreadKey } from '@dormouse/ports';
import type { Redis } from 'ioredis';
import { IdleChannels } from './idle-channels.ts';
import { hintsIn, textOf } from './hint-text.ts';
import type { RedisLink } from './redis-link.ts';

export interface LiveFeedOptions {
  readonly prefix: string;
  /** Deltas kept for late clients, per completion. */
  readonly deltasMax: number;
  readonly keptMs: number;
  /** Whether keys are spread over the nodes of a cluster. */
  readonly isSpread: boolean;
}

/** What this process has put into the list of one thread. */
interface Said {
  readonly completionId: string;
  readonly attempt: number;
  deltas: number;
}

/** Hints of one thread that are to be sent. */
interface Gathered {
  readonly key: ThreadKey;
  readonly hints: Hint[];
}

/** ARGV: three for each step, its name and two more; see `Step`. A list that a full Redis refuses delays no hint. */
const stepsScript = `
  for place = 1, #ARGV, 3 do
    local step, name, value = ARGV[place], ARGV[place + 1], ARGV[place + 2]
    if step == 'publish' then redis.pcall('PUBLISH', name, value)
    elseif step == 'push' then redis.pcall('RPUSH', name, value)
    elseif step == 'expire' then redis.pcall('PEXPIRE', name, value)
    else redis.pcall('DEL', name) end
  end`;

type Step = readonly [step: 'publish' | 'push' | 'expire' | 'delete', channelOrList: string, value: string];

/** What one command does. */
interface Outgoing {
  /** That it touches, where Redis has to know them beforehand. */
  readonly keys: readonly string[];
  readonly steps: Step[];
}

type Listener = (hint: Hint) => void;

const gatherMs = 20;
const saidMax = 10_000;
const stepsMax = 1_000;

export function createLiveFeed(publisher: RedisLink, subscriber: RedisLink<Redis>, options: LiveFeedOptions): LiveFeed {
  const { prefix, deltasMax, keptMs, isSpread } = options;
  /** A part of a key in braces alone decides its slot. (F8) */
  const slotted = (thread: string): string => (isSpread ? `{${thread}}` : thread);
  const channelOf = ({ tenant, thread }: ThreadKey): string => `${prefix}${tenant}:feed:${thread}`;
  const listOf = ({ tenant, thread }: ThreadKey): string => `${prefix}${tenant}:said:${slotted(thread)}`;
  const retryingOf = ({ tenant, thread }: ThreadKey): string => `${prefix}${tenant}:retrying:${slotted(thread)}`;
  const listeners = new Map<string, Set<Listener>>();
  /** Channels that Redis has confirmed on this connection. */
  const inForce = new Set<string>();
  const said = new Map<string, Said>();
  const gathered = new Map<string, Gathered>();
  let outgoing = new Map<string, Outgoing>();
  const idle = new IdleChannels((channels) => {
    for (const channel of channels) inForce.delete(channel);
    void subscriber.ask((client) => client.unsubscribe(...channels), null);
  });

  subscriber.client.on('message', (channel: string, text: string) => {
    const ours = listeners.get(channel);
    if (ours === undefined) return;
    for (const hint of hintsIn(text)) for (const listener of ours) notify(channel, listener, hint);
  });
  subscriber.client.on('close', () => inForce.clear());
  subscriber.client.on('ready', () => {
    const channels = [...listeners.keys()];
    if (channels.length > 0) void join(channels); // (F2)
  });

  async function join(channels: readonly string[]): Promise<void> {
    if ((await subscriber.ask((client) => client.subscribe(...channels), null)) === null) return;
    for (const channel of channels) inForce.add(channel);
  }

  /** A listener that throws gets nothing more: its client reads the log again, as after any lost hint. */
  function notify(channel: string, listener: Listener, hint: Hint): void {
    try {
      listener(hint);
    } catch {
      listeners.get(channel)?.delete(listener);
    }
  }

  function sendGathered(): void {
    for (const each of gathered.values()) send(each);
    gathered.clear();
  }

  /** (F4) */
  function send({ key, hints }: Gathered): void {
    const last = hints.at(-1);
    if (last?.hint === 'committed' && endsCompletion(last.commit.body)) forget(key);
    else
      keep(
        key,
        hints.flatMap((each) => (each.hint === 'delta' ? [each.delta] : [])),
      );
    if (last?.hint === 'retrying') wait(key, last.retrying);
    take(key, ['publish', channelOf(key), textOf(hints)]);
  }

  function take(key: ThreadKey, step: Step): void {
    if (outgoing.size === 0) setImmediate(takeAll);
    const place = isSpread ? listOf(key) : ''; // (F8)
    const lot = outgoing.get(place);
    if (lot !== undefined) lot.steps.push(step);
    else outgoing.set(place, { keys: isSpread ? [listOf(key), retryingOf(key)] : [], steps: [step] });
  }

  /** (F1, F6) */
  function takeAll(): void {
    const all = outgoing;
    outgoing = new Map();
    for (const { keys, steps } of all.values()) {
      for (let from = 0; from < steps.length; from += stepsMax) {
        const lot = steps.slice(from, from + stepsMax).flat();
        void publisher.ask((client) => client.eval(stepsScript, keys.length, ...keys, ...lot), 0);
      }
    }
  }

  /** (F3) */
  function keep(key: ThreadKey, deltas: readonly Delta[]): void {
    const list = listOf(key);
    const before = said.get(list);
    let running = before;
    let kept: Delta[] = [];
    for (const delta of deltas) {
      if (running?.completionId === delta.completionId && running.attempt > delta.attempt) continue;
      if (running?.completionId !== delta.completionId || running.attempt !== delta.attempt) {
        running = { completionId: delta.completionId, attempt: delta.attempt, deltas: 0 };
        kept = [];
      }
      if (running.deltas >= deltasMax) continue;
      running.deltas += 1;
      kept.push(delta);
    }
    if (running === undefined || kept.length === 0) return;
    const isSame = running === before;
    if (!isSame) {
      remember(list, running);
      take(key, ['delete', list, '']);
      take(key, ['delete', retryingOf(key), '']); // (F7)
    }
    for (const delta of kept) take(key, ['push', list, JSON.stringify(delta)]);
    take(key, ['expire', list, String(keptMs)]);
  }

  /** (F7) */
  function wait(key: ThreadKey, retrying: Retrying): void {
    const list = retryingOf(key);
    take(key, ['delete', list, '']);
    take(key, ['push', list, JSON.stringify(retrying)]);
    take(key, ['expire', list, String(keptMs)]);
  }

  /** When another process takes the thread over, this process never sees the completion end: the oldest is dropped. */
  function remember(list: string, running: Said): void {
    said.delete(list);
    const [oldest] = said.keys();
    if (said.size >= saidMax && oldest !== undefined) said.delete(oldest);
    said.set(list, running);
  }

  function forget(key: ThreadKey): void {
    const list = listOf(key);
    if (said.delete(list)) take(key, ['delete', list, '']);
  }

  return {
    publish: (key, hint) => {
      const channel = channelOf(key);
      const waiting = gathered.get(channel);
      waiting?.hints.push(hint);
      if (hint.hint === 'delta') {
        if (waiting !== undefined) return;
        if (gathered.size === 0) setTimeout(sendGathered, gatherMs).unref();
        gathered.set(channel, { key, hints: [hint] });
      } else {
        gathered.delete(channel);
        send(waiting ?? { key, hints: [hint] });
      }
    },
    subscribe: async (key, listener) => {
      const channel = channelOf(key);
      const ours = listeners.get(channel) ?? new Set<Listener>();
      listeners.set(channel, ours.add(listener));
      idle.wanted(channel);
      if (!inForce.has(channel)) await join([channel]);
      return () => {
        ours.delete(listener);
        if (ours.size > 0 || listeners.get(channel) !== ours) return;
        listeners.delete(channel);
        idle.unwanted(channel); // (F5)
      };
    },
    soFar: async (key) => {
      const stored = await publisher.ask((client) => client.lrange(listOf(key), 0, -1), []);
      const deltas = stored.map((text) => readJson(text) as Delta);
      const last = deltas.at(-1);
      return deltas.filter((delta) => delta.completionId === last?.completionId && delta.attempt === last.attempt);
    },
    retrying: async (key) => {
      const [stored] = await publisher.ask((client) => client.lrange(retryingOf(key), 0, -1), []);
      return stored === undefined ? null : (readJson(stored) as Retrying);
    },
  };
}

/** As `JSON.stringify` writes them; inside a string their quotes would be escaped. */
const endings = ['"type":"CompletionRecorded"', '"type":"CompletionFailed"', '"type":"CompletionRequested"'];
const endsCompletion = (body: string): boolean => endings.some((ending) => body.includes(ending));
