// Builds the image and writes what belongs beside it into dist/image: an SBOM (CycloneDX) of what is in it, and a
// provenance file: from which commit, base and lock it was made, and which digest it has.
//
//   node deploy/docker/build.mjs [--tool docker|podman|buildah] [--tag dormouse] [--base IMAGE] [--out DIR] [-- flags of the tool]
//
// Give --base with a digest for a release: the Dockerfile names it by a tag. Without a tool, `--files-only` writes the SBOM.
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
const began = new Date();

mkdirSync(out, { recursive: true });
const sbom = join(out, 'sbom.cdx.json');
run('npm', [
  ...['exec', '--yes', `--package=${sbomTool}`, '--', 'cyclonedx-npm'],
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
  run(tool, ['build', '--file', dockerfile, '--tag', name, ...args, ...positionals, root]);
  const digest = imageId(tool);
  const provenance = join(out, 'provenance.json');
  writeFileSync(provenance, `${JSON.stringify(statement(digest, labels), null, 2)}\n`);
  console.log(`${provenance}\n${name} ${digest}`);
}

function imageId(tool) {
  const [format, kind] = tool === 'buildah' ? ['{{.FromImageID}}', 'image'] : ['{{.Id}}', 'image'];
  const { stdout } = spawnSync(tool, ['inspect', '--type', kind, '--format', format, name], { encoding: 'utf8' });
  return stdout.trim().replace(/^(?!sha256:)/, 'sha256:');
}

/** In the form of SLSA 1.0, unsigned: a release workflow signs it. */
function statement(digest, parameters) {
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name, digest: { sha256: digest.replace(/^sha256:/, '') } }],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'https://mobyproject.org/buildkit@v1',
        externalParameters: { dockerfile, ...parameters },
        resolvedDependencies: [
          {
            uri: source,
            digest: { gitCommit: revision },
            annotations: { changed: git('status', '--porcelain') !== '' },
          },
          { uri: base },
          { uri: 'package-lock.json', digest: { sha256: hashOf('package-lock.json') } },
          { uri: dockerfile, digest: { sha256: hashOf(dockerfile) } },
        ],
      },
      runDetails: {
        builder: { id: `node ${process.version} on ${process.platform}/${process.arch}` },
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
