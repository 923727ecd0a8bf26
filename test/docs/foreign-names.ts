// Names of one machine or one installation, which are useless in another clone.
//
// F1  No path of a developer's machine: home folders and the like.
// F2  No host of a package registry or mirror: each machine has its own. Names under `.example` belong to no machine.
import type { Document, Violation } from './document.ts';

const machinePath =
  /(?<![\w.-])(?:\/(?:home|Users)\/[A-Za-z][\w.-]*\/|\/root\/|\/work\/|\/tmp\/[\w.-]+\/|[A-Z]:\\Users\\)/;
const registryHost =
  /(?:registry|mirror|artifactory|nexus|verdaccio|proxy)[\w-]*\.[\w-]+(?:\.[\w-]+)*(?::\d+)?\/|(?:npmjs\.(?:org|com)|yarnpkg\.com|pypi\.org|proxy\.golang\.org)/i;

export function foreignNames(documents: readonly Document[]): Violation[] {
  return documents.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) => [
        ...(machinePath.test(line) ? [`${path}:${index + 1} names a path of one machine (F1)`] : []),
        ...(registryHost.test(line.replaceAll(/[\w.-]+\.example\b/g, ''))
          ? [`${path}:${index + 1} names a package registry (F2)`]
          : []),
      ]),
  );
}
