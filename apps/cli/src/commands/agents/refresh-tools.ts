// Lets a thread load the tools of its servers anew, and tells what has changed.
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, type Client, isEvent, type ThreadEvent } from '@dormouse/client';
import { CliFailure, exitCodes } from '../../exit-code.ts';
import { describeEvent } from '../../show-event.ts';

const waitMsMax = 60_000;
const lookEveryMs = 150;

/** One line for each server whose tools changed or were rejected. @throws CliFailure when it takes too long */
export async function refreshTools({ api }: Client, thread: string): Promise<readonly string[]> {
  const params = { path: { id: thread } };
  const { position } = await ask(api.GET('/v1/threads/{id}', { params }));
  const { id: request } = await ask(api.POST('/v1/threads/{id}/toolsets/refresh', { params }));
  const until = Date.now() + waitMsMax;
  for (let after = position; ;) {
    const query = { after, limit: 200 };
    const { data } = await ask(api.GET('/v1/threads/{id}/events', { params: { ...params, query } }));
    const refused = data.find((event) => isEvent(event, 'request_refused') && event.request_id === request);
    if (refused !== undefined) return [`refused: ${describeEvent(refused)}`];
    const at = data.findIndex((event) => isEvent(event, 'toolsets_loaded')); // what changed is in the same commit
    if (at >= 0)
      return data
        .slice(at)
        .filter(isAboutTools)
        .map((event) => describeEvent(event));
    after = data.at(-1)?.position ?? after;
    if (Date.now() > until)
      throw new CliFailure(
        exitCodes.waiting,
        `${thread} has not loaded its tools yet.`,
        'It will when it comes to it.',
      );
    await sleep(lookEveryMs);
  }
}

const isAboutTools = (event: ThreadEvent): boolean =>
  isEvent(event, 'toolset_changed') || isEvent(event, 'toolset_rejected');
