// Hints over Redis: a channel per thread, and beside it a list of what the running completion has said. Port: ports/live-feed.ts.
//
// Invariants:
//   F1. Publishing waits for nothing and fails for nobody. What is published by one process arrives in its order.
//   F2. A subscription outlives an outage: what this process listens to is subscribed anew when Redis is back.
//   F3. The list belongs to one attempt of one completion: another begins it anew, the commit that ends the completion drops
//       it, and time does if its process dies. It is bounded; what does not fit is only not shown to late clients.
import type { Delta, Hint, LiveFeed, ThreadKey } from '@dormouse/ports';
import { readJson } from '@dormouse/protocol';
import type { RedisLink } from './redis-link.ts';

export interface LiveFeedOptions {
  readonly prefix: string;
  /** Deltas kept for late clients, per completion. */
  readonly deltasMax: number;
  readonly keptMs: number;
}

/** What this process has put into the list of one thread. */
interface Said {
  readonly completionId: string;
  readonly attempt: number;
  deltas: number;
}

type Listener = (hint: Hint) => void;

export function createLiveFeed(publisher: RedisLink, subscriber: RedisLink, options: LiveFeedOptions): LiveFeed {
  const { prefix, deltasMax, keptMs } = options;
  const channelOf = ({ tenant, thread }: ThreadKey): string => `${prefix}${tenant}:feed:${thread}`;
  const listOf = ({ tenant, thread }: ThreadKey): string => `${prefix}${tenant}:said:${thread}`;
  const listeners = new Map<string, Set<Listener>>();
  const said = new Map<string, Said>();

  subscriber.client.on('message', (channel: string, text: string) => {
    const hint = readJson(text) as Hint;
    for (const listener of listeners.get(channel) ?? []) tell(channel, listener, hint);
  });
  subscriber.client.on('ready', () => {
    const channels = [...listeners.keys()];
    if (channels.length > 0) void subscriber.ask((client) => client.subscribe(...channels), null); // (F2)
  });

  /** One that throws is told nothing more: its client reads the log again, as after any lost hint. */
  function tell(channel: string, listener: Listener, hint: Hint): void {
    try {
      listener(hint);
    } catch {
      listeners.get(channel)?.delete(listener);
    }
  }

  /** (F3) */
  function keep(key: ThreadKey, delta: Delta): void {
    const list = listOf(key);
    const now = said.get(list);
    const isSame = now?.completionId === delta.completionId && now.attempt === delta.attempt;
    if (now?.completionId === delta.completionId && now.attempt > delta.attempt) return;
    const running: Said = isSame ? now : { completionId: delta.completionId, attempt: delta.attempt, deltas: 0 };
    said.set(list, running);
    if (running.deltas >= deltasMax) return;
    running.deltas += 1;
    void publisher.ask(async (client) => {
      const commands = client.multi();
      if (!isSame) commands.del(list);
      await commands.rpush(list, JSON.stringify(delta)).pexpire(list, keptMs).exec();
    }, undefined);
  }

  function forget(key: ThreadKey, body: string): void {
    const list = listOf(key);
    if (!said.has(list) || !endings.some((ending) => body.includes(ending))) return;
    said.delete(list);
    void publisher.ask((client) => client.del(list), 0);
  }

  return {
    publish: (key, hint) => {
      if (hint.hint === 'delta') keep(key, hint.delta);
      else if (hint.hint === 'committed') forget(key, hint.commit.body);
      void publisher.ask((client) => client.publish(channelOf(key), JSON.stringify(hint)), 0); // (F1)
    },
    subscribe: async (key, listener) => {
      const channel = channelOf(key);
      const known = listeners.get(channel);
      const ours = known ?? new Set<Listener>();
      ours.add(listener);
      if (known === undefined) listeners.set(channel, ours);
      await subscriber.ask((client) => client.subscribe(channel), null);
      return () => {
        ours.delete(listener);
        if (ours.size > 0 || listeners.get(channel) !== ours) return;
        listeners.delete(channel);
        void subscriber.ask((client) => client.unsubscribe(channel), null);
      };
    },
    soFar: async (key) => {
      const stored = await publisher.ask((client) => client.lrange(listOf(key), 0, -1), []);
      const deltas = stored.map((text) => readJson(text) as Delta);
      const last = deltas.at(-1);
      return deltas.filter((delta) => delta.completionId === last?.completionId && delta.attempt === last.attempt);
    },
  };
}

/** As `JSON.stringify` writes them; inside a string their quotes would be escaped. */
const endings = ['"type":"CompletionRecorded"', '"type":"CompletionFailed"', '"type":"CompletionRequested"'];
