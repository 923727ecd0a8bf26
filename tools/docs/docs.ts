// The documents as a site of static files, in docs/.vitepress/dist; any web server can have them at the root of a host.
//
//   npm run docs                          builds what changed
//   npm run docs -- --serve [--port N]    and shows it at http://127.0.0.1:7440, until Ctrl-C
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { readFlags } from '../flags.ts';
import { serveFiles } from './static-server.ts';

const usage = `npm run docs -- [options]: builds the documents as a static site

  --serve    serves it until Ctrl+C
  --port N   on this port of 127.0.0.1 (default 7440)
  --help     this text`;

const { values } = readFlags(usage, {
  serve: { type: 'boolean', default: false },
  port: { type: 'string', default: '7440' },
});

const root = join(import.meta.dirname, '..', '..');
const site = join(root, 'docs', '.vitepress', 'dist');
const nx = join(root, 'node_modules', 'nx', 'dist', 'bin', 'nx.js');

const { status } = spawnSync(process.execPath, [nx, 'run', 'dormouse:docs', '--outputStyle=static'], {
  cwd: root,
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);
console.log(`built: ${site}`);

if (values.serve) {
  const { url, close } = await serveFiles(site, Number(values.port));
  console.log(`ready ${url}`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void close());
}
