// A Worker that serves the same tools twice: in the memory of an isolate, and in a Durable Object. Bundled by esbuild.
import { defineTool, type FetchHandler, toFetchHandler, type ToolServerOptions, webhook } from '@dormouse/tool-server';
import { z } from 'zod';

interface Context {
  readonly waitUntil: (work: Promise<unknown>) => void;
}

interface Environment {
  readonly TOOLS: { readonly getByName: (name: string) => { readonly fetch: (request: Request) => Promise<Response> } };
}

const echo = defineTool(
  { name: 'echo', description: 'Says it again.', input: z.strictObject({ text: z.string().min(1) }) },
  ({ text }) => text,
);
const slow = defineTool(
  { name: 'slow', description: 'Takes its time.', input: z.strictObject({}) },
  (_given, { signal }) =>
    new Promise<string>((resolve, reject) => {
      setTimeout(() => resolve('done'), 1_000);
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    }),
);
const pick = defineTool(
  { name: 'pick', description: 'Asks a person.', input: z.strictObject({}) },
  async (_given, context) => (await context.choose({ prompt: 'Which?', choices: ['left', 'right'], default: 0 })).label,
);
const hang = defineTool(
  { name: 'hang', description: 'Never ends.', input: z.strictObject({}), deadlineMs: 1_000 },
  () => new Promise<string>(() => {}),
);
const watch = defineTool(
  { name: 'watch', description: 'Tells news.', input: z.strictObject({}) },
  async (_given, context) => void (await context.subscribe({ data: 'news' })),
);
const remember = defineTool(
  { name: 'remember', description: 'Counts.', input: z.strictObject({}) },
  (_given, { memory }) => {
    const runs = Number(memory.get('runs') ?? 0) + 1;
    memory.set('runs', runs);
    return runs;
  },
);

const options: ToolServerOptions = {
  name: 'worker',
  tools: [echo, slow, hang, pick, watch, remember],
  auth: { bearer: 'a shared secret' },
  delivery: { firstPauseMs: 200 },
  routes: [
    webhook({
      path: '/news',
      secret: 'the secret of the source',
      scheme: 'github',
      handle({ payload }, server) {
        for (const subscription of server.subscriptions('watch')) subscription.emit(JSON.stringify(payload));
      },
    }),
  ],
};

const inIsolate = toFetchHandler(options, { basePath: '/isolate' });
const cut = toFetchHandler(options, { basePath: '/cut' });
const durable = toFetchHandler({ ...options, dataDir: '/data' }, { basePath: '/durable' });

/** As Cloudflare does after 30 seconds. */
const shortly = (work: Promise<unknown>): Promise<unknown> =>
  Promise.race([work, new Promise((resolve) => setTimeout(resolve, 300))]);

/** One place for all requests: what a question or a subscription needs. */
export class Tools {
  readonly #context: Context;
  readonly #handler: FetchHandler = toFetchHandler(options, { basePath: '/object' });

  constructor(context: Context) {
    this.#context = context;
  }

  fetch(request: Request): Promise<Response> {
    return this.#handler(request, this.#context);
  }
}

// oxlint-disable-next-line import/no-default-export -- what a Worker is
export default {
  fetch(request: Request, environment: Environment, context: Context): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith('/object/')) return environment.TOOLS.getByName('tools').fetch(request);
    if (pathname.startsWith('/cut/'))
      return cut(request, { waitUntil: (work: Promise<unknown>) => context.waitUntil(shortly(work)) });
    if (pathname.startsWith('/durable/'))
      return durable(request).catch((error: Error) => new Response(error.message, { status: 500 }));
    return inIsolate(request, environment, context);
  },
};
