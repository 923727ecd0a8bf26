// Writes frames to a socket as server-sent events.
//
// Invariants:
//   E1. `id:` is the position, on durable events only; a reader that reconnects with the last one misses and repeats
//       nothing.
//   E2. A reader that does not consume its frames is dropped with `lagged`; its backlog is never held in memory.
//   E3. However the stream ends, nothing is left behind: no timer, no subscription, no socket.
import type { ServerResponse } from 'node:http';
import type { View } from '@dormouse/ports';
import { apiJson, type Frame } from '@dormouse/runtime';
import type { StreamLag } from './stream-lag.ts';

const unsentBytesMax = 4 * 1024 * 1024;
const patienceMs = 5_000;
const commentEveryMs = 15_000;
const retryMs = 2_000;

/** Resolves when the frames or the reader end; `over` is aborted when the reader leaves, and at the end. */
export const writeStream = (
  raw: ServerResponse,
  requestId: string,
  frames: AsyncIterable<Frame>,
  over: AbortController,
  lag: StreamLag,
): Promise<void> => writeTexts(raw, requestId, textsOf(frames, lag), over, { lagged: () => tooSlow(lag) });

/** What a slow reader gets at its end. */
function tooSlow(lag: StreamLag): string {
  lag.lagged();
  return frameText({ frame: 'lagged' });
}

async function* textsOf(frames: AsyncIterable<Frame>, lag: StreamLag): AsyncGenerator<string> {
  for await (const frame of frames) {
    yield frameText(frame);
    lag.written(frame);
    if (frame.frame === 'lagged') lag.lagged();
  }
}

/** The same for frames that are texts already. */
export async function writeTexts(
  raw: ServerResponse,
  requestId: string,
  frames: AsyncIterable<string>,
  over: AbortController,
  {
    headers = {},
    lagged = () => '',
  }: { readonly headers?: Readonly<Record<string, string>>; readonly lagged?: () => string },
): Promise<void> {
  raw.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'x-request-id': requestId,
    connection: 'keep-alive',
  });
  raw.write(`retry: ${retryMs}\n\n`);
  const comments = setInterval(() => raw.write(':\n\n'), commentEveryMs);
  try {
    for await (const frame of frames) {
      if (over.signal.aborted) break;
      raw.write(frame);
      if (raw.writableLength > unsentBytesMax && !(await isDrained(raw, over.signal))) {
        raw.write(lagged()); // (E2)
        break;
      }
    }
  } finally {
    clearInterval(comments); // (E3)
    over.abort('over');
    const destroy = setTimeout(() => raw.destroy(), patienceMs).unref();
    raw.end(() => clearTimeout(destroy));
  }
}

export function frameText(frame: Frame): string {
  if (frame.frame === 'event') {
    const { type, position } = frame.event;
    return `event: ${type}\nid: ${position}\ndata: ${JSON.stringify(frame.event)}\n\n`; // (E1)
  }
  if (frame.frame === 'view') return `event: view\ndata: ${viewText(frame.data)}\n\n`;
  const data = 'data' in frame ? JSON.stringify(apiJson(frame.data)) : '{}';
  return `event: ${frame.frame}\ndata: ${data}\n\n`;
}

/** The content character for character, on one line: a line break between tokens of JSON is white space. R98 */
export const viewText = ({ viewType, content }: View): string =>
  `{"view_type":${JSON.stringify(viewType)},"content":${content.replace(/[\r\n]+/g, ' ')}}`;

/** Whether the reader consumed what was sent within the time limit. */
function isDrained(raw: ServerResponse, gone: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (gone.aborted) return resolve(false);
    const answer = (is: boolean): void => {
      clearTimeout(timer);
      raw.off('drain', onDrain);
      gone.removeEventListener('abort', onGone);
      resolve(is);
    };
    const onDrain = (): void => answer(true);
    const onGone = (): void => answer(false);
    const timer = setTimeout(onGone, patienceMs);
    raw.once('drain', onDrain);
    gone.addEventListener('abort', onGone, { once: true });
  });
}
