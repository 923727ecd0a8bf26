// The targets of every project, described once: Nx infers them from each package.json under libs/ and apps/. A
// project.json stands only where a project differs; tags (the layers) are in `nx.tags` of package.json.
import { dirname } from 'node:path';

export const name = 'dormouse/project-targets';

export const createNodesV2 = [
  '{libs,apps}/**/package.json',
  (files) =>
    files.filter((file) => !/\/(dist|node_modules)\//.test(file)).map((file) => [file, nodesOf(dirname(file))]),
];

function nodesOf(root) {
  const run = (command, options = {}) => ({ executor: 'nx:run-commands', options: { command, ...options } });
  const targets = {
    build: run('tsc -b', { cwd: root }),
    lint: run(`oxlint --config .oxlintrc.json ${root}`),
    test: run(`vitest run --passWithNoTests ${root}/`),
  };
  return { projects: { [root]: { root, sourceRoot: `${root}/src`, targets } } };
}
