// A request that a thread decides later: the runtime answers 202, and the log says what became of it.
//
// Invariants:
//   Q1. A request that the thread refuses is a failure in the words of the refusal. One that is not decided in time is
//       none: it is in the log, and is decided later.
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, type Client, isEvent, type ThreadEvent } from '@dormouse/client';
import { CliFailure, exitCodes } from '../../exit-code.ts';

const decidedMsMax = 10_000;
const pauseMsFirst = 20;
const pauseMsMax = 500;
const pageSize = 200;

/** Sends the request and waits until it is decided. @throws CliFailure when the thread refused it. (Q1) */
export async function requested<Accepted extends { readonly id: string }>(
  client: Client,
  thread: string,
  send: () => Promise<Accepted>,
): Promise<Accepted> {
  const params = { path: { id: thread } };
  const { position } = await ask(client.api.GET('/v1/threads/{id}', { params }));
  const accepted = await send();
  const event = await consequence(client, thread, position, accepted.id);
  if (event !== null && isEvent(event, 'request_refused')) throw refusal(event.code, event.detail);
  return accepted;
}

/** The first event that the request led to; null when the time was up first. */
async function consequence(
  { api }: Client,
  thread: string,
  position: number,
  request: string,
): Promise<ThreadEvent | null> {
  const deadline = performance.now() + decidedMsMax;
  let after = position;
  for (let pauseMs = pauseMsFirst; performance.now() < deadline; pauseMs = Math.min(pauseMs * 2, pauseMsMax)) {
    const query = { after, limit: pageSize };
    const page = await ask(api.GET('/v1/threads/{id}/events', { params: { path: { id: thread }, query } }));
    const found = page.data.find((event) => concerns(event, request));
    if (found !== undefined) return found;
    after = Number(page.next_cursor ?? after);
    await sleep(pauseMs);
  }
  return null;
}

const concerns = (event: ThreadEvent, request: string): boolean =>
  event.cause.id === request || (isEvent(event, 'request_refused') && event.request_id === request);

function refusal(code: string, detail: string): CliFailure {
  const words = code.startsWith('NOTHING_TO_')
    ? `There is nothing to do: ${detail}`
    : `The thread refused it: ${detail}`;
  return new CliFailure(exitCodes.failed, `${words} (${code}).`, null, code);
}
