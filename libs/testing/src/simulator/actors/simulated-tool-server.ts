// A realistic tool server: acknowledges with any 2xx, answers late, early, twice, differently, never; refuses, breaks,
// hangs, sends garbage, ids of others and forged tokens. It records everything it received.
import type { ToolPeer } from '@dormouse/adapter-memory';
import type { Clock, FetchOutcome, SendOutcome, SendRequest, TenantId } from '@dormouse/ports';
import type { ReceivedNotice, ReceivedPost, SentCallback } from '../../invariants/history.ts';
import type { Random } from '../world/random.ts';

/** An answer of the callback endpoint; null when none came. */
export type CallbackStatus = number | null;

export interface ToolServerDeps {
  readonly tenant: TenantId;
  readonly name: string;
  readonly baseUrl: string;
  readonly random: Random;
  readonly clock: Clock;
  readonly fresh: () => number;
  readonly moment: () => number;
  readonly received: (post: Omit<ReceivedPost, 'lookedUpAt'>, sender: string, token: string) => void;
  readonly noticed: (notice: ReceivedNotice) => void;
  readonly sent: (callback: SentCallback) => void;
  /** POSTs to a callback URL. */
  readonly callBack: (url: string, body: string, contentType: string) => Promise<CallbackStatus>;
  readonly counted: (path: string) => void;
}

export interface SimulatedToolServer extends ToolPeer {
  /** Messages that are still on their way or will be. */
  readonly busy: number;
}

interface Invocation {
  readonly id: string;
  readonly callId: string | null;
  readonly operation: string;
  readonly arguments: unknown;
  readonly callbackUrl: string;
  readonly groupId: string;
}

const sendAttemptsMax = 200;
const acked: SendOutcome = { sent: true, status: 202, retryAfterMs: null };

/** Two servers of one tenant offer different tools; one tool of each is destructive. */
export function manifestOf(name: string, baseUrl: string): string {
  const tool = (tool: string, annotations: object): object => ({
    name: `${name}_${tool}`,
    description: `${tool} of ${name}`,
    inputSchema: { type: 'object', properties: { n: { type: 'number' } } },
    annotations,
  });
  const tools = [tool('look', {}), tool('work', { longRunning: true }), tool('wipe', { destructive: true })];
  return JSON.stringify({ name, endpoint: `${baseUrl}/invoke`, tools });
}

export function createSimulatedToolServer(deps: ToolServerDeps): SimulatedToolServer {
  const { random, clock, fresh, moment } = deps;
  const accepted = new Set<string>();
  const known: Invocation[] = [];
  /** Calls that subscribe. */
  const subscribers = new Set<string>();
  /** Calls whose choice was answered, with the waiting handler. */
  const answered = new Map<string, () => void>();
  let busy = 0;

  /** Sends until it is accepted, as tools do: 4xx is final, anything else is retried. */
  async function send(
    call: Invocation,
    body: () => string,
    about: Pick<SentCallback, 'text' | 'legitimate' | 'type' | 'eventId'>,
    contentType = 'application/json',
  ): Promise<void> {
    for (let attempt = 0; attempt < sendAttemptsMax; attempt += 1) {
      const sentAt = moment();
      const status = await deps.callBack(call.callbackUrl, body(), contentType);
      const key = { tenant: deps.tenant, thread: call.groupId };
      deps.sent({
        key,
        toolCallId: call.id,
        ...about,
        sentAt,
        status,
      });
      if (status !== null && status < 500) return deps.counted(`callback ${status}`);
      await clock.sleep(80 + random.below(500));
    }
  }

  function result(call: Invocation, text: string): string {
    const extra = subscribers.has(call.id) ? { subscription: true } : {};
    const said = random.chance(0.1)
      ? {
          content: [
            { type: 'text', text },
            { type: 'image', data: 'aGk=', mediaType: 'image/png' },
          ],
        }
      : { text };
    return JSON.stringify({
      type: 'tool_result',
      group_id: call.groupId,
      id: call.id,
      call_id: call.callId,
      ...said,
      ...extra,
    });
  }

  const view = (call: Invocation): string =>
    JSON.stringify({ type: 'view_update', group_id: call.groupId, view_type: 'board', content: { n: fresh() } });

  /** One result, which every retry repeats, unless the server makes up a new one each time. */
  async function sendResult(call: Invocation): Promise<void> {
    const changing = random.chance(0.2);
    const sayings = (): string =>
      `${random.chance(0.1) ? 'Error: ' : ''}r${fresh()} of ${deps.tenant}-canary${random.chance(0.01) ? '.'.repeat(70_000) : ''}`;
    let said = sayings();
    for (let attempt = 0; attempt < sendAttemptsMax; attempt += 1) {
      const text = said;
      const sentAt = moment();
      const status = await deps.callBack(call.callbackUrl, result(call, text), 'application/json');
      deps.sent({
        key: { tenant: deps.tenant, thread: call.groupId },
        toolCallId: call.id,
        type: 'tool_result',
        text: text.slice(0, 40),
        legitimate: true,
        sentAt,
        status,
      });
      if (status !== null && status < 500) return deps.counted(`callback ${status}`);
      if (changing) {
        deps.counted('second, different result');
        said = sayings();
      }
      await clock.sleep(80 + random.below(500));
    }
  }

  /** Messages that should never have any effect, or a visible one. */
  async function misbehave(call: Invocation): Promise<void> {
    const text = `forged${fresh()}`;
    const lie = { text, legitimate: false, type: 'tool_result' } as const;
    const other = random.pick(known);
    switch (random.below(6)) {
      case 0: // a token with one character changed
        return send({ ...call, callbackUrl: flip(call.callbackUrl, random) }, () => result(call, text), lie);
      case 1: // another call's URL
        if (other.id !== call.id)
          await send({ ...call, callbackUrl: other.callbackUrl }, () => result(call, text), lie);
        return;
      case 2: // garbage
        return send(call, () => '{"type": "tool_result", "id": ', { ...lie, type: 'other' });
      case 3: // a wrong thread
        return send(call, () => result({ ...call, groupId: `${call.groupId}x` }, text), lie);
      case 4:
        return send(
          call,
          () =>
            JSON.stringify({
              type: 'user_choice',
              ...{ group_id: call.groupId, id: call.id, prompt: '?', choices: ['one'], default: 9 },
              response_url: `${deps.baseUrl}/choice/${call.id}`,
            }),
          { ...lie, type: 'other' },
        );
      default:
        return send(call, () => result(call, text), { ...lie, type: 'other' }, 'text/plain');
    }
  }

  /** The events of its subscription: a few, some of them early, some twice, some with an id. */
  async function emit(call: Invocation): Promise<void> {
    const events = 1 + random.below(4);
    for (let event = 1; event <= events; event += 1) {
      const eventId = random.chance(0.6) ? `ev${fresh()}` : undefined;
      const text = `e${fresh()} of ${deps.tenant}-canary`;
      const body = JSON.stringify({
        type: 'subscription_event',
        group_id: call.groupId,
        tool_call_id: call.id,
        text,
        associative: random.chance(0.6),
        final: event === events && random.chance(0.7),
        event_id: eventId,
      });
      const about = { text, legitimate: true, type: 'event', ...(eventId !== undefined && { eventId }) } as const;
      if (random.chance(0.2)) background(send(call, () => body, about));
      await send(call, () => body, about);
      await clock.sleep(random.below(1_500));
    }
  }

  /** Asks a user first: a login that no client here completes, or a choice that a client may answer. */
  async function askPerson(call: Invocation): Promise<void> {
    const about = { text: `q${fresh()}`, legitimate: true, type: 'other' } as const;
    if (random.chance(0.4)) {
      const login = { type: 'oauth', group_id: call.groupId, id: call.id, auth_url: `https://login.test/${fresh()}` };
      await send(call, () => JSON.stringify(login), about);
      await clock.sleep(random.below(2_000));
      return;
    }
    const choice = {
      type: 'user_choice',
      group_id: call.groupId,
      id: call.id,
      prompt: about.text,
      choices: ['one', 'two'],
      default: random.below(2),
      response_url: `${deps.baseUrl}/choice/${call.id}`,
    };
    const { promise, resolve } = Promise.withResolvers<void>();
    answered.set(call.id, resolve);
    await send(call, () => JSON.stringify(choice), about);
    await Promise.race([promise, clock.sleep(random.below(8_000))]); // some tools do not wait for ever
  }

  function chosen(request: SendRequest): SendOutcome {
    const { id } = JSON.parse(request.body) as { readonly id: string };
    deps.counted('choice answered');
    answered.get(id)?.();
    if (random.chance(0.1)) return { sent: true, status: random.pick([500, 503, 404]), retryAfterMs: null };
    return { sent: true, status: 200, retryAfterMs: null };
  }

  /** One execution of one call; a tool that is asked twice may run twice. */
  async function live(call: Invocation): Promise<void> {
    if (random.chance(0.08)) return deps.counted('tool never answers');
    if (random.chance(0.08)) await askPerson(call);
    if (random.chance(0.1))
      await send(call, () => view(call), { text: `v${fresh()}`, legitimate: true, type: 'other' });
    if (random.chance(0.12)) {
      subscribers.add(call.id);
      background(clock.sleep(random.below(2_500)).then(() => emit(call)));
    }
    if (random.chance(0.12)) await misbehave(call);
    if (!random.chance(0.2)) await clock.sleep(5 + random.below(random.chance(0.15) ? 6_000 : 700)); // else early
    if (random.chance(0.15)) background(sendResult(call)); // twice at once
    await sendResult(call);
    if (random.chance(0.1)) {
      await clock.sleep(random.below(3_000));
      await sendResult(call); // and once more, late
    }
  }

  function background(work: Promise<void>): void {
    busy += 1;
    void work.then(() => {
      busy -= 1;
    });
  }

  function take(call: Invocation): void {
    known.push(call);
    const again = accepted.has(call.id);
    if (again && !random.chance(0.3)) return; // most tools know the id
    accepted.add(call.id);
    if (again) deps.counted('tool ran a call twice');
    background(live(call));
  }

  async function invoke(request: SendRequest): Promise<SendOutcome> {
    await clock.sleep(1 + random.below(15));
    if (random.chance(0.05)) return { sent: false, reached: false, code: 'ECONNREFUSED', detail: 'down' };
    const call = parse(request.body);
    const post = {
      toolServer: deps.name,
      thread: call.groupId,
      toolCallId: call.id,
      operation: call.operation,
      arguments: call.arguments,
      receivedAt: moment(),
    };
    deps.received(
      post,
      request.headers['x-sender'] ?? '',
      call.callbackUrl.slice(call.callbackUrl.lastIndexOf('/') + 1),
    );
    const fate = random.fraction();
    if (fate < 0.06) return { sent: true, status: random.pick([400, 404, 409, 422]), retryAfterMs: null };
    if (fate < 0.16) {
      if (random.chance(0.4)) take(call);
      return { sent: true, status: 503, retryAfterMs: random.chance(0.3) ? 300 : null };
    }
    take(call);
    if (fate < 0.21) return hang(request);
    if (fate < 0.24) return { sent: false, reached: true, code: 'ECONNRESET', detail: 'broken off' };
    await clock.sleep(random.below(30));
    return acked;
  }

  async function hang(request: SendRequest): Promise<SendOutcome> {
    await clock.sleep(request.timeoutMs, request.signal);
    return { sent: false, reached: true, code: 'ETIMEDOUT', detail: 'no answer' };
  }

  async function notice(request: SendRequest): Promise<SendOutcome> {
    const { thread_id: thread, tool_call_id: call } = JSON.parse(request.body) as {
      readonly thread_id: string;
      readonly tool_call_id?: string;
    };
    deps.noticed({
      toolServer: `${deps.tenant}/${deps.name}`,
      notice: call === undefined ? 'close_thread' : 'cancel_tool_call',
      subject: call ?? thread,
    });
    await clock.sleep(1 + random.below(20));
    return { sent: true, status: random.pick([200, 200, 404, 500]), retryAfterMs: null };
  }

  return {
    get busy() {
      return busy;
    },
    post: async (request) => {
      if (request.url === `${deps.baseUrl}/invoke`) return invoke(request);
      return request.url.startsWith(`${deps.baseUrl}/choice/`) ? chosen(request) : notice(request);
    },
    get: async (): Promise<FetchOutcome> => {
      await clock.sleep(1 + random.below(30));
      if (random.chance(0.04)) return { ok: false, code: 'TOOLSET_UNREACHABLE', detail: 'down' };
      if (random.chance(0.03)) return { ok: true, status: 200, body: '{"name":' };
      return { ok: true, status: 200, body: manifestOf(deps.name, deps.baseUrl) };
    },
  };
}

function parse(body: string): Invocation {
  const wire = JSON.parse(body) as Record<string, unknown>;
  return {
    id: String(wire['id']),
    callId: typeof wire['call_id'] === 'string' ? wire['call_id'] : null,
    operation: String(wire['operation']),
    arguments: wire['arguments'],
    callbackUrl: String(wire['callback_url']),
    groupId: String(wire['group_id']),
  };
}

/** The same URL with one character of its token changed. */
function flip(url: string, random: Random): string {
  const start = url.lastIndexOf('/') + 1;
  const index = start + random.below(url.length - start);
  return url.slice(0, index) + (url[index] === 'A' ? 'B' : 'A') + url.slice(index + 1);
}
