// The outside of an installation: tool servers, clients, watchers; and whether they have come to rest.
import type { ToolPeer } from '@dormouse/adapter-memory';
import { Fault, type ThreadKey, type ToolServer } from '@dormouse/ports';
import { type Ingress, inputIdOf, publicId, requestNames } from '@dormouse/runtime';
import type { Installation } from '../world/installation.ts';
import { tenants } from '../observation.ts';
import { registrationOf } from '../world/registration.ts';
import type { Process } from '../world/scheduler.ts';
import { runClient } from './simulated-client.ts';
import { createSimulatedToolServer, type SimulatedToolServer } from './simulated-tool-server.ts';
import { startWatcher, type Watcher } from './simulated-watcher.ts';
import { type Rig, threadsPerUniverse } from '../world/universe-rig.ts';

export interface Outside {
  readonly registrations: readonly ToolServer[];
  /** The peer that answers under this URL, as the sending process sees it. */
  peerAt(url: string, sender: string): ToolPeer | null;
  /** Those of every universe, and so many more of one tenant. */
  startClients(crowd: number): void;
  /** A request to some living ingress; null when no answer came. */
  askIngress<T>(ask: (ingress: Ingress) => Promise<T>): Promise<T | null>;
  /** Those that are still waiting or busy. */
  unrest(): readonly string[];
}

const requestTimeoutMs = 2_500;

export function createOutside(rig: Rig, installation: () => Installation): Outside {
  const { random, scheduler, clock, observation, fresh, counted } = rig;
  const watchers: Watcher[] = [];
  let clientsLeft = 0;

  function createServers(): readonly ServedServer[] {
    return tenants.flatMap((tenant) =>
      ['tools', 'more'].map((name) => {
        const baseUrl = `https://${name}.${tenant}.test`;
        const peer = createSimulatedToolServer({
          tenant,
          name,
          baseUrl,
          random,
          clock,
          fresh,
          counted,
          moment: () => scheduler.moment,
          received: (post, sender, token) => {
            observation.post(sender, post);
            observation.token(token);
          },
          noticed: (notice) => observation.notice(notice),
          sent: (callback) => observation.callback(callback),
          callBack,
        });
        return { baseUrl, peer, server: registrationOf(tenant, name, baseUrl) };
      }),
    );
  }

  async function callBack(url: string, body: string, contentType: string): Promise<number | null> {
    const token = url.slice(url.lastIndexOf('/') + 1);
    const answer = await request(
      'callback',
      () => installation().callback(),
      (gateway) => gateway.receive(token, { contentType, body, headers: {} }),
    );
    return answer?.status ?? null;
  }

  /** One HTTP request from outside: it may find no process, a process that dies over it, or lose its answer. */
  async function request<Serve, T>(
    name: string,
    find: () => { readonly process: Process; readonly serve: Serve } | null,
    ask: (serve: Serve) => Promise<T>,
  ): Promise<T | null> {
    await clock.sleep(2 + random.below(20));
    const up = find();
    if (up === null) return null;
    const answer = ask(up.serve).then(
      (value) => ({ value }),
      (failure: unknown) => {
        if (!(failure instanceof Fault))
          observation.witness('I-24', `${name} threw ${failure instanceof Error ? failure.stack : String(failure)}`);
        return null;
      },
    );
    const first = await Promise.race([answer, clock.sleep(requestTimeoutMs).then(() => null)]);
    await clock.sleep(1 + random.below(10));
    if (first === null || random.chance(scheduler.faults.answerLost)) return null;
    return first.value;
  }

  const askIngress: Outside['askIngress'] = (ask) => request('ingress', () => installation().ingress(), ask);

  function startClient(index: number, agent = index): void {
    const tenant = tenants[agent % tenants.length] ?? tenants[0];
    const mintName = requestNames({ clock, entropy: { nonce: () => '', fraction: () => 0 } });
    clientsLeft += 1;
    void runClient({
      name: `client${index}`,
      tenant,
      agent: `agent${agent}`,
      random,
      clock,
      fresh,
      counted,
      moment: () => scheduler.moment,
      ask: askIngress,
      idsOf: (origin) => {
        const name = mintName(origin);
        return { inputId: inputIdOf(name), messageId: publicId('msg', name), threadId: publicId('thr', name) };
      },
      opened: (key) => {
        if (random.chance(0.5)) watch(key);
      },
      sent: (sent) => observation.request(sent),
      look: (key) => observation.thread(key),
      surprised: (text) => observation.witness('I-01', text),
    }).then(() => {
      clientsLeft -= 1;
    });
  }

  function watch(key: ThreadKey): void {
    const watcher = startWatcher({
      key,
      random,
      clock,
      counted,
      ingress: () => installation().ingress(),
      surprised: (text) => observation.witness('I-19', text),
    });
    watchers.push(watcher);
    observation.watching(watcher.stream);
  }

  /** Streams that have not given everything yet. */
  const behind = (): readonly string[] =>
    watchers.flatMap(({ stream: { key, events } }) => {
      const position = observation.thread(key)?.position ?? 0;
      return events.length < position ? [`the stream of ${key.thread} is at ${events.length} of ${position}`] : [];
    });

  const servers = createServers();
  return {
    registrations: servers.map(({ server }) => server),
    peerAt: (url, sender) => peerAt(servers, url, sender),
    askIngress,
    startClients: (crowd) => {
      for (let index = 0; index < threadsPerUniverse; index += 1) startClient(index);
      for (let index = 0; index < crowd; index += 1) startClient(threadsPerUniverse + index, 0);
    },
    unrest: () => [
      ...(clientsLeft > 0 ? [`${clientsLeft} clients are not answered`] : []),
      ...servers.filter(({ peer }) => peer.busy > 0).map(({ server }) => `${server.name} of ${server.tenant} is busy`),
      ...behind(),
    ],
  };
}

interface ServedServer {
  readonly baseUrl: string;
  readonly server: ToolServer;
  readonly peer: SimulatedToolServer;
}

/** The sender travels as a header, so that the tool server's record says which process had looked up what. */
function peerAt(servers: readonly ServedServer[], url: string, sender: string): ToolPeer | null {
  const found = servers.find(({ baseUrl }) => url.startsWith(`${baseUrl}/`));
  if (found === undefined) return null;
  return {
    get: (request) => found.peer.get(request),
    post: (request) => found.peer.post({ ...request, headers: { ...request.headers, 'x-sender': sender } }),
  };
}
