// The crowd beside the healthy load: calls to a tool server that answers 503 to every call, and completions of a model
// whose server takes every request and never answers, twice as many of each as there are places for them in all
// processes together.
//
// Invariants:
//   W1. While it stands, each of its threads retries as soon as it has been given up: the crowd does not get smaller.
//   W2. When it leaves, every thread of it is interrupted: like all others, its threads come to rest.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { System } from '../e2e/conversation.ts';
import type { Workload } from '../recovery/workload.ts';
import { callPlaces, completionPlaces } from './places.ts';

export const crowdKinds = ['both', 'tools', 'models', 'none'] as const;
export type CrowdKind = (typeof crowdKinds)[number];

export interface Crowd {
  /** Resolves when every thread has sent a first message. */
  come(): Promise<void>;
  leave(): Promise<void>;
  /** POSTs received by the dead tool server. */
  posts(): number;
  close(): Promise<void>;
}

interface CrowdOrder {
  readonly request: System['request'];
  readonly workload: Workload;
  readonly kind: CrowdKind;
  /** Of each service. */
  readonly instances: number;
}

/** Per available place. */
const times = 2;
const callsPerTurn = 16;
const atOnce = 8;
const turnsMax = 200;
const lookEveryMs = 15_000;

/** Opens the threads, which send nothing yet. */
export async function createCrowd({ request, workload, kind, instances }: CrowdOrder): Promise<Crowd> {
  const dead = await startDeadToolServer();
  const hung = await startHungModel();
  const leaving = new AbortController();
  const threads: string[] = [];
  let standing: readonly Promise<void>[] = [];

  async function made(path: string, body: object): Promise<void> {
    const { status, text } = await request('POST', path, body);
    if (status >= 300) throw new Error(`${path} was answered ${status}: ${text}`);
  }

  async function open(agent: string, count: number): Promise<void> {
    const opened = await fewAtOnce(
      Array.from({ length: count }, () => agent),
      (each) => workload.open(each),
    );
    threads.push(...opened);
  }

  if (kind === 'both' || kind === 'tools') {
    const script = Array.from({ length: turnsMax * 2 }, (_, place) =>
      place % 2 === 0 ? Array.from({ length: callsPerTurn }, (_, nth) => callOf(place, nth)) : [{ text: 'given up' }],
    );
    await made('/v1/tool-servers', { name: 'dead', base_url: dead.url });
    await made('/v1/agents', {
      name: 'caller',
      model: { provider: 'scripted', parameters: { script } },
      tool_servers: ['dead'],
    });
    await open('caller', (times * callPlaces * instances) / callsPerTurn);
  }
  if (kind === 'both' || kind === 'models') {
    const model = { provider: 'openai-compatible', name: 'hung', base_url: `${hung.url}/v1` };
    await made('/v1/agents', { name: 'hanger', model });
    await open('hanger', times * completionPlaces * instances);
  }

  /** (W1) */
  async function stand(thread: string): Promise<void> {
    for (let place = 1; !leaving.signal.aborted;) {
      // Not all of them poll at once.
      await sleep(lookEveryMs * (0.5 + Math.random()), undefined, { signal: leaving.signal }).catch(() => {});
      if (!leaving.signal.aborted && (await workload.isIdle(thread))) await workload.say(thread, place++);
    }
  }

  return {
    come: async () => {
      await fewAtOnce(threads, (thread) => workload.say(thread, 0));
      standing = threads.map(stand);
    },
    leave: async () => {
      leaving.abort();
      await Promise.all(standing);
      await fewAtOnce(threads, (thread) => workload.interrupt(thread)); // (W2)
    },
    posts: dead.posts,
    close: async () => {
      await Promise.all([dead.close(), hung.close()]);
    },
  };
}

/** The gateways serve other threads, too. */
async function fewAtOnce<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const done: Result[] = [];
  for (let from = 0; from < items.length; from += atOnce)
    done.push(...(await Promise.all(items.slice(from, from + atOnce).map(work))));
  return done;
}

const callOf = (place: number, nth: number): object => ({
  tool_call: { name: 'wait', arguments: { place, nth } },
});

/** Serves its manifest, and accepts no call. */
async function startDeadToolServer() {
  let posts = 0;
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json');
    if (request.method === 'GET') return void response.end(manifest());
    posts += 1;
    response.statusCode = 503;
    return void response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const wait = { name: 'wait', description: 'wait', inputSchema: { type: 'object' } };
  const manifest = (): string => JSON.stringify({ name: 'dead', endpoint: `${url}/invoke`, tools: [wait] });
  return {
    url,
    posts: () => posts,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Accepts every request, and never answers one. */
async function startHungModel() {
  const server = createServer((request) => void request.resume()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
