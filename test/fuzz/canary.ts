// A thread beside the attacked one: it has turns of its own and a call that is open all the while, and nothing else
// ever happens in it.
//
// Invariants:
//   C1. Between two of its own turns its log stays what it was, byte for byte.
//   C2. It goes on: the true result settles its call, the next message is answered, and opens the next call.
import { createHash } from 'node:crypto';
import { recordToolServer, type RecordingToolServer } from '../conformance/recording-tool-server.ts';
import { eventsOf, openThread, scriptedAgent, type Step, type System, untilStatus } from '../e2e/conversation.ts';
import type { Json } from '../e2e/standalone-process.ts';

export interface Canary {
  readonly name: string;
  readonly thread: string;
  /** The call that is open. */
  readonly call: string;
  /** Looks at the log, takes a turn, and says what is wrong: nothing, most of the time. (C1, C2) */
  check(): Promise<string | null>;
  close(): Promise<void>;
}

/** More than the turns between two renewals. */
const turnsMax = 60;

/** `secret` is in what it says and in what is said to it. */
export async function startCanary(name: string, at: System, secret: string): Promise<Canary> {
  const server = await recordToolServer(at);
  const turn = (index: number): readonly (readonly Step[])[] => [
    [{ tool_call: { name: 'work', arguments: { what: `${secret} ${index}` } } }],
    [{ text: `${secret} says ${index}` }],
  ];
  const script = Array.from({ length: turnsMax }, (_, index) => turn(index)).flat();
  const agent = await scriptedAgent(at, script, { tool_servers: [server.name] });
  const thread = await openThread(at, agent, { title: secret });
  const canary = { name, at, server, thread, secret };
  let turns = 0;
  let { call, hash } = await begun(canary, turns);
  return {
    name,
    thread,
    get call() {
      return String(call.id);
    },
    async check() {
      const before = hashOf(await eventsOf(at, thread));
      if (before !== hash) return `the log of the thread of ${name} changed without a turn of its own`;
      const { status } = await server.send(call, { type: 'tool_result', text: `${secret} done ${turns}` });
      if (status !== 200) return `the true result for the thread of ${name} was answered ${status}`;
      await untilStatus(at, thread, 'idle');
      const settled = (await eventsOf(at, thread)).filter(({ type }) => type === 'tool_call_settled').at(-1);
      if (settled?.content?.[0]?.text !== `${secret} done ${turns}`) return `the thread of ${name} has another result`;
      turns += 1;
      ({ call, hash } = await begun(canary, turns));
      return null;
    },
    close: () => server.close(),
  };
}

interface Parts {
  readonly at: System;
  readonly server: RecordingToolServer;
  readonly thread: string;
  readonly secret: string;
}

/** The turn with this number, until its call is open and was sent. */
async function begun({ at, server, thread, secret }: Parts, turn: number): Promise<{ call: Json; hash: string }> {
  const said = await at.request('POST', `/v1/threads/${thread}/messages`, { text: `${secret} asks ${turn}` });
  if (said.status !== 202) throw new Error(`a message to a thread that is not attacked: ${said.status} ${said.text}`);
  const call = await server.invocation(turn);
  await untilStatus(at, thread, 'waiting');
  return { call, hash: hashOf(await eventsOf(at, thread)) };
}

const hashOf = (events: readonly Json[]): string => createHash('sha256').update(JSON.stringify(events)).digest('hex');
