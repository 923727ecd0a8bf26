// Builds the image and writes what belongs beside it into dist/image: an SBOM (CycloneDX) of what is in it, and a
// provenance file: from which commit, base and lock it was made, and which digest it has.
//
//   node deploy/docker/build.mjs [--tool docker|podman|buildah] [--tag dormouse] [--base IMAGE] [--out DIR] [-- flags of the tool]
//
// Give --base with a digest for a release: the Dockerfile names it by a tag. Without a tool, `--files-only` writes the SBOM.
// The provenance is a statement of in-toto with the predicate of SLSA 1.0, unsigned. Its subject is the configuration of
// the image, since a digest of the manifest is there only after a push.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const dockerfile = 'deploy/docker/Dockerfile';
const text = /** @type {const} */ ({ type: 'string' });
const { values, positionals } = parseArgs({
  options: { tool: text, tag: text, base: text, out: text, 'files-only': { type: 'boolean', default: false } },
  allowPositionals: true,
});
const out = values.out ?? join(root, 'dist', 'image');
const base = values.base ?? /^ARG BASE=(\S+)$/m.exec(readFileSync(join(root, dockerfile), 'utf8'))[1];
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const revision = git('rev-parse', 'HEAD') ?? 'unknown';
/** Without a login that a remote's address may have. */
const source = git('remote', 'get-url', 'origin')?.replace(/\/\/[^@/]*@/, '//') ?? 'unknown';
const name = `${values.tag ?? 'dormouse'}:${version}`;
const sbomTool = '@cyclonedx/cyclonedx-npm@6.0.1';
/** What `npm ci` installs into the image, and what the page of the console is bundled from. */
const inTheImage = [
  ...readFileSync(join(root, 'deploy/docker/packages.txt'), 'utf8').trim().split('\n'),
  'apps/console',
];
const began = new Date();

mkdirSync(out, { recursive: true });
const sbom = join(out, 'sbom.cdx.json');
run('npm', [
  ...['exec', '--yes', `--package=${sbomTool}`, '--', 'cyclonedx-npm'],
  ...inTheImage.flatMap((folder) => ['--workspace', folder]),
  ...['--package-lock-only', '--omit', 'dev', '--omit', 'optional', '--output-reproducible', '--spec-version', '1.6'],
  ...['--validate', '--output-format', 'JSON', '--output-file', sbom, join(root, 'package.json')],
]);
console.log(`${sbom}`);
if (!values['files-only']) build();

function build() {
  const tool = values.tool ?? ['docker', 'podman', 'buildah'].find((each) => answers(each));
  if (tool === undefined) fail('there is no docker, podman or buildah; --files-only writes the SBOM alone');
  const labels = { BASE: base, VERSION: version, REVISION: revision, SOURCE: source };
  const args = Object.entries(labels).flatMap(([key, value]) => ['--build-arg', `${key}=${value}`]);
  const [, pinned] = base.split('@');
  if (pinned !== undefined) args.push('--label', `org.opencontainers.image.base.digest=${pinned}`);
  run(tool, ['build', '--file', dockerfile, '--tag', name, ...args, ...positionals, root]);
  const digest = imageId(tool);
  const provenance = join(out, 'provenance.json');
  writeFileSync(provenance, `${JSON.stringify(statement(tool, digest, labels), null, 2)}\n`);
  console.log(`${provenance}\n${name} ${digest}`);
}

function imageId(tool) {
  const [format, kind] = tool === 'buildah' ? ['{{.FromImageID}}', 'image'] : ['{{.Id}}', 'image'];
  const { stdout } = spawnSync(tool, ['inspect', '--type', kind, '--format', format, name], { encoding: 'utf8' });
  return stdout.trim().replace(/^(?!sha256:)/, 'sha256:');
}

function statement(tool, digest, parameters) {
  const [baseName, baseDigest] = base.split('@sha256:');
  const { GITHUB_SERVER_URL: server, GITHUB_WORKFLOW_REF: workflow } = process.env;
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name, digest: { sha256: digest.replace(/^sha256:/, '') } }],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:dormouse:deploy/docker/build.mjs:1',
        externalParameters: { dockerfile, ...parameters },
        internalParameters: { tool, node: process.version, platform: `${process.platform}/${process.arch}` },
        resolvedDependencies: [
          {
            uri: source,
            digest: { gitCommit: revision },
            annotations: { changed: git('status', '--porcelain') !== '' },
          },
          { uri: baseName, ...(baseDigest === undefined ? {} : { digest: { sha256: baseDigest } }) },
          { uri: 'package-lock.json', digest: { sha256: hashOf('package-lock.json') } },
          { uri: dockerfile, digest: { sha256: hashOf(dockerfile) } },
        ],
      },
      runDetails: {
        builder: { id: workflow === undefined ? 'urn:dormouse:builder:by-hand' : `${server}/${workflow}` },
        metadata: { startedOn: began.toISOString(), finishedOn: new Date().toISOString() },
        byproducts: [
          { name: 'sbom.cdx.json', digest: { sha256: createHash('sha256').update(readFileSync(sbom)).digest('hex') } },
        ],
      },
    },
  };
}

function hashOf(path) {
  return createHash('sha256')
    .update(readFileSync(join(root, path)))
    .digest('hex');
}

function answers(tool) {
  return spawnSync(tool, ['version'], { stdio: 'ignore' }).status === 0;
}

function git(...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) fail(`${command} ended with ${error?.message ?? status}`);
}

function fail(reason) {
  console.error(`build: ${reason}`);
  process.exit(1);
}
