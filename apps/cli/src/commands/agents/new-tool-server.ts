// `dormouse tools new`: a tool server to begin with, in a folder of its own.
//
// Invariants:
//   N1. Nothing that is there is overwritten: the folder is new, or empty.
//   N2. The folder needs nothing of this repository: the SDK comes from npm, or from where `--sdk` says.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { packageFolder, sdkPackage, toolVersion } from '../../command-name.ts';
import { answer, type CliContext } from '../../context.ts';
import { CliFailure, exitCodes, wrongUsage } from '../../exit-code.ts';

const templateName = 'stocks';
/** npm packs no files of these names. */
const renamed: Readonly<Record<string, string>> = { gitignore: '.gitignore', dockerignore: '.dockerignore' };

interface NewToolServerFlags {
  /** What npm takes the SDK from: a version, a tarball. */
  readonly sdk?: string;
}

export async function newToolServer(context: CliContext, name: string, { sdk }: NewToolServerFlags): Promise<void> {
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(name))
    throw wrongUsage(
      `"${name}" is no name for a package: it takes small letters, digits and "-".`,
      `For example: ${context.hint(`tools new ${templateName}`)}`,
    );
  const folder = resolve(name);
  const isTaken = existsSync(folder) && (await readdir(folder)).length > 0;
  if (isTaken) throw new CliFailure(exitCodes.failed, `There is a folder ${name} already.`, 'Choose another name.'); // (N1)
  const files = [...(await templateFiles()), { path: 'package.json', text: packageJson(name, sdk) }];
  for (const { path, text } of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), named(path, text, name));
  }
  const paths = files.map(({ path }) => path).toSorted();
  answer(context, words(context, name, paths, sdk), { folder, files: paths });
}

async function templateFiles(): Promise<readonly { readonly path: string; readonly text: string }[]> {
  const folder = join(packageFolder, 'template');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => {
        const file = join(entry.parentPath, entry.name);
        const path = file.slice(folder.length + 1).replaceAll('\\', '/');
        return { path: renamed[path] ?? path, text: await readFile(file, 'utf8') };
      }),
  );
}

/** The name of the server, in code only where it is one. */
const named = (path: string, text: string, name: string): string =>
  path.endsWith('.ts') ? text.replaceAll(`'${templateName}'`, `'${name}'`) : text.replaceAll(/\bstocks\b/g, name);

/** (N2) */
function packageJson(name: string, sdk = `^${toolVersion}`): string {
  const content = {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: { node: '>=20.16' },
    scripts: {
      build: 'tsc',
      start: 'tsc && node --enable-source-maps dist/src/main.js',
      test: 'tsc && cd dist && node --enable-source-maps --test',
    },
    dependencies: { [sdkPackage]: existsSync(sdk) ? `file:${resolve(sdk)}` : sdk, zod: '^4.0.0' },
    devDependencies: { '@types/node': '^24.0.0', typescript: '^6.0.0' },
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

/** The folder has no key, and nothing is published yet: what is run elsewhere says where. */
function words({ hint }: CliContext, name: string, paths: readonly string[], sdk: string | undefined): string {
  const add = `tools add ${name} http://127.0.0.1:7431`;
  return [
    `Made ${name}/ with ${paths.join(', ')}.`,
    '',
    ...(sdk === undefined ? unpublished : []),
    `  cd ${name}`,
    `  npm install${sdk === undefined ? ` ${tarball}` : ''}`,
    '  npm test           # drives the tools without a runtime',
    '  npm start          # serves them at http://127.0.0.1:7431',
    '',
    'Then, in another terminal, in the clone of Dormouse, where the key of `npm start` is:',
    '',
    `  ${hint(add)}`,
    '',
    'Elsewhere: the same with --url URL, and --data DIR or --key KEY.',
  ].join('\n');
}

/** As `npm pack` names it. */
const tarball = `CLONE/dist/packages/${sdkPackage.slice(1).replace('/', '-')}-${toolVersion}.tgz`;

const unpublished = [
  `${sdkPackage} is not published yet: \`npm run pack\` in the clone of Dormouse, here CLONE, writes a tarball of it.`,
  '',
];
