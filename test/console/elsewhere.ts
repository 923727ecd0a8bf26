// Pages of another origin than the runtime's: a server of their own, and what they are made of.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

export interface Elsewhere {
  /** Another host than the runtime's, too. */
  readonly origin: string;
  /** Serves the program of a page, by its path. */
  serve(path: string, program: string): void;
  close(): Promise<void>;
}

export async function startElsewhere(): Promise<Elsewhere> {
  const programs = new Map<string, string>();
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://page');
    const program = programs.get(pathname.replace(/\.js$/, ''));
    if (program === undefined) return response.writeHead(404).end();
    if (pathname.endsWith('.js')) return response.writeHead(200, { 'content-type': 'text/javascript' }).end(program);
    const html = `<!doctype html><title>page</title><main></main><script type="module" src="${pathname}.js"></script>`;
    return response.writeHead(200, { 'content-type': 'text/html' }).end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://app.localhost:${(server.address() as AddressInfo).port}`,
    serve: (path, program) => void programs.set(path, program),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** One program for a browser, of a file and all that it imports. `given`: sources of files that are on no disk. */
export async function programOf(file: string, given: Readonly<Record<string, string>> = {}): Promise<string> {
  const bundle = await rolldown({
    input: file,
    platform: 'browser',
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    resolve: { conditionNames: ['dormouse-source', 'browser', 'import', 'default'] },
    transform: { define: { 'process.env.NODE_ENV': '"development"' } },
    tsconfig: false,
    plugins: [
      {
        name: 'given',
        resolveId: (id) => (id in given ? id : null),
        load: (id) => given[id] ?? null,
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false });
  await bundle.close();
  return output[0].code;
}
