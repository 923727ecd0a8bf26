// Converts the one JSON answer of an endpoint that does not stream into a stream of one piece: all readers use streams.
import { z } from 'zod';

const answerBytesMax = 16 * 1024 * 1024;

const wholeAnswer = z.looseObject({
  choices: z.array(
    z.looseObject({
      message: z.looseObject({ tool_calls: z.array(z.looseObject({})).nullish() }),
      finish_reason: z.string().nullish(),
    }),
  ),
});

/** A fetch that turns 2xx JSON answers into event streams; every other answer passes through. */
export function streamingFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const isWhole = response.ok && /^application\/json\b/i.test(response.headers.get('content-type') ?? '');
    return isWhole ? streamOf(await response.text()) : response;
  };
}

function streamOf(text: string): Response {
  if (text.length > answerBytesMax) throw new TypeError('the answer of the endpoint is too large');
  const parsed = wholeAnswer.safeParse(JSON.parse(text));
  // Other JSON is passed on unchanged: inside a stream the provider's own error texts are understood.
  const piece = parsed.success ? asChunk(parsed.data) : (JSON.parse(text) as unknown);
  return new Response(`data: ${JSON.stringify(piece)}\n\ndata: [DONE]\n\n`, {
    headers: { 'content-type': 'text/event-stream' },
  });
}

function asChunk(answer: z.infer<typeof wholeAnswer>): unknown {
  const choices = answer.choices.map((choice) => {
    const calls = choice.message.tool_calls?.map((call, index) => ({ ...call, index }));
    const delta = { ...choice.message, ...(calls === undefined ? {} : { tool_calls: calls }) };
    return { index: 0, delta, finish_reason: choice.finish_reason ?? 'stop' };
  });
  return { ...answer, object: 'chat.completion.chunk', choices };
}
