// The targets that Nx infers for every package under libs/ and apps/, described once: `test`, its specs, so that the
// quick check runs those of the packages that a change affects. What looks at all packages at once (compiler, linters,
// simulator) is a target of the whole repository, in project.json of the root: one process per package takes two to
// four times as long. Tags (the layers) are in `nx.tags` of package.json.
//
// X1  A cached target declares all that it reads (nx.json has the sets). Specs that need files, sockets or processes
//     are in test/, and are never cached.
// X2  The specs of a package may import any other package (testing, the memory adapter): they depend on all sources.
import { dirname } from 'node:path';

export const name = 'dormouse/project-targets';

export const createNodesV2 = [
  '{libs,apps}/**/package.json',
  (files) =>
    files.filter((file) => !/\/(dist|node_modules)\//.test(file)).map((file) => [file, nodesOf(dirname(file))]),
];

function nodesOf(root) {
  const test = {
    executor: 'nx:run-commands',
    options: { command: `vitest run --passWithNoTests ${root}/` },
    cache: true,
    inputs: ['specs'],
  };
  return { projects: { [root]: { root, sourceRoot: `${root}/src`, targets: { test } } } };
}
