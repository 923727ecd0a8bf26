import { describe, expect, it } from 'vitest';
import { emptyFileNames, environmentReads, plainTypes, sharedNumbers, unnumberedTodos } from './house-language.ts';
import { filesBelow, type Rule } from './source-file.ts';

const product = filesBelow('libs', 'apps');
const everything = [
  ...product,
  ...filesBelow('test', 'bench').filter((file) => !file.path.startsWith('test/architecture/')),
];

const path = 'libs/thread/src/a.ts';

describe('plain types', () => {
  it('are all that the code uses', () => {
    expect(plainTypes(product)).toEqual([]);
  });

  it.each([
    'enum Colour { Red }',
    'const enum Colour { Red }',
    'namespace Colours {}',
    'let x: any;',
    'f(x as any)',
    'type X = Array<any>;',
  ])('refuse %s', (text) => expectRed(plainTypes, text));

  it.each([
    `declare module 'fastify' { interface X { a: 1 } }`,
    'declare global { interface X { a: 1 } }',
    `const any = 'any'; // any`,
  ])('allow %s', (text) => expectGreen(plainTypes, text));
});

describe('the environment', () => {
  it('is read by the config of the host only', () => {
    expect(environmentReads(product)).toEqual([]);
    expect(environmentReads([{ path: 'libs/host/src/config.ts', text: 'parse(process.env);' }])).toEqual([]);
  });

  it.each([
    'const port = process.env.PORT;',
    'const { PORT } = process.env;',
    'const { env } = process;',
    'const { env: settings } = process;',
    `const port = process['env']['PORT'];`,
    'globalThis.process.env.PORT;',
    `import { env } from 'node:process';`,
  ])('is seen in %s', (text) => expectRed(environmentReads, text));

  it.each(['// process.env', 'const env = config.env;', 'process.exit(1);'])('is not seen in %s', (text) =>
    expectGreen(environmentReads, text),
  );
});

describe('a TODO', () => {
  it('carries the number of its issue everywhere', () => {
    expect(unnumberedTodos(everything)).toEqual([]);
  });

  it.each(['// TODO later', '/* FIXME */', 'f(); // XXX(#1) and TODO: that'])('is loose in %s', (text) =>
    expectRed(unnumberedTodos, text),
  );

  it('may stay with a number', () => expectGreen(unnumberedTodos, '// TODO(#12): the other half'));
});

describe('file names', () => {
  it('say what is inside', () => {
    expect(emptyFileNames(everything)).toEqual([]);
  });

  it.each([
    'libs/thread/src/utils.ts',
    'libs/thread/src/helpers/a.ts',
    'libs/core/src/a.ts',
    'apps/cli/src/types.spec.ts',
    'libs/host/src/misc.ts',
  ])('refuse %s', (empty) => expect(emptyFileNames([{ path: empty, text: '' }])).toHaveLength(1));

  it('may contain such a word', () => {
    expect(emptyFileNames([{ path: 'libs/thread/src/callback-types.ts', text: '' }])).toEqual([]);
  });
});

describe('the number of an invariant', () => {
  it('is its own', () => {
    expect(sharedNumbers(everything)).toEqual([]);
  });

  it('is refused a second time in one file', () => expectRed(sharedNumbers, '//   A1. One.\n//\n//   A1. Another.'));

  it('is refused a second time in the bench', () => {
    const text = '//   B1. One.';
    const files = [
      { path: 'bench/src/a.ts', text },
      { path: 'bench/floor/b.ts', text },
    ];
    expect(sharedNumbers(files)).toHaveLength(1);
  });

  it('may be used in another library, and referred to', () => {
    const text = '//   A1. One.\n// (A1)\n//        A1. is above';
    expect(
      sharedNumbers([
        { path, text },
        { path: 'libs/ports/src/a.ts', text },
      ]),
    ).toEqual([]);
  });
});

function expectRed(rule: Rule, text: string): void {
  expect(rule([{ path, text }])).not.toEqual([]);
}

function expectGreen(rule: Rule, text: string): void {
  expect(rule([{ path, text }])).toEqual([]);
}
