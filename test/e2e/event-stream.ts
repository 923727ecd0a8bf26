// Reads a thread's event stream frame by frame.
import type { System } from './conversation.ts';
import type { Json } from './standalone-process.ts';

export interface SseFrame {
  readonly event: string;
  readonly id: string | null;
  readonly data: Json;
}

export interface OpenStream {
  readonly response: Response;
  /** The next frame; null at the end. */
  next(): Promise<SseFrame | null>;
  /** Frames up to and including the first for which `holds`. */
  until(holds: (frame: SseFrame) => boolean): Promise<readonly SseFrame[]>;
  close(): void;
}

export const openStream = (
  at: System,
  thread: string,
  query = '',
  headers: Readonly<Record<string, string>> = {},
): Promise<OpenStream> => openStreamOf(at, `/v1/threads/${thread}/events${query}`, headers);

export async function openStreamOf(
  at: System,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<OpenStream> {
  const abort = new AbortController();
  const response = await fetch(at.url + path, {
    headers: { authorization: `Bearer ${at.key}`, accept: 'text/event-stream', ...headers },
    signal: abort.signal,
  });
  const frames = framesOf(response);
  const next = async (): Promise<SseFrame | null> => (await frames.next()).value ?? null;
  return {
    response,
    next,
    async until(holds) {
      const seen: SseFrame[] = [];
      for (;;) {
        const frame = await next();
        if (frame === null) throw new Error(`the stream ended after ${JSON.stringify(seen.map(({ event }) => event))}`);
        seen.push(frame);
        if (holds(frame)) return seen;
      }
    },
    close: () => abort.abort(),
  };
}

async function* framesOf(response: Response): AsyncGenerator<SseFrame, null> {
  let text = '';
  for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const frame = parse(text.slice(0, end));
      text = text.slice(end + 2);
      if (frame !== null) yield frame;
    }
  }
  return null;
}

function parse(block: string): SseFrame | null {
  const field = (name: string): string | null => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? null;
  const event = field('event');
  return event === null ? null : { event, id: field('id'), data: JSON.parse(field('data') ?? 'null') };
}
