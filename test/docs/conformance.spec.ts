import { describe, expect, it } from 'vitest';
import { type Basis, misnamed, openReasons, tierIn, withProofs } from './conformance.ts';
import { readDocument, repositoryFiles } from './document.ts';

const specs = repositoryFiles((path) => /\.(spec|contract)\.ts$/.test(path) && !path.startsWith('test/docs/')).map(
  readDocument,
);
const basis: Basis = {
  openReasons,
  standalone: tierIn(readDocument('vitest.config.ts').text),
  cluster: tierIn(readDocument('vitest.cluster.config.ts').text),
};

describe('the table of obligations', () => {
  it('names specs that prove what they are named for, knows every number and claims what follows', () => {
    expect(misnamed(readDocument('docs/conformance.md'), specs, basis)).toEqual([]);
  });

  it('knows from the configurations what runs where', () => {
    expect(basis.standalone.include).toContain('test/**/*.spec.ts');
    expect(basis.cluster.include).toContain('test/conformance/*.spec.ts');
  });

  const samples: Basis = {
    openReasons: { R43: 'limits are not built yet' },
    standalone: tierIn(`include: ['**/*.spec.ts'], exclude: ['test/cluster/**']`),
    cluster: tierIn(`include: [], include: ['test/cluster/**/*.spec.ts', // a comment\n 'test/{both,more}.spec.ts']`),
  };
  const unit = { path: 'libs/a.spec.ts', text: `it('R5 R6 I-08 waits', () => {}); it('says R7 later', () => {});` };
  const whole = (path: string) => ({ path, text: `await startSystem(); it('R5 waits', () => {});` });
  const table = (rows: string): string =>
    `| id | obligation | tests | topologies | status |\n| --- | --- | --- | --- | --- |\n${rows}\n`;
  const page = (rows: string) => ({ path: 'docs/a.md', text: table(rows) });
  const complaints = (rows: string): string[] => misnamed(page(rows), [unit], samples);
  const a = '[a](../libs/a.spec.ts)';
  const only = 'proved by unit tests only';

  it('is written from the titles', () => {
    const before = page('| R5 | waits |  |  |  |\n| R43 | more | [old](../libs/b.spec.ts) | both | proved |');
    expect(withProofs(before, [unit], samples)).toBe(
      table(`| R5 | waits | ${a} |  | ${only} |\n| R43 | more |  |  | open: limits are not built yet |`),
    );
  });

  it.each([
    [['test/alone.spec.ts'], 'standalone'],
    [['test/cluster/x.spec.ts'], 'cluster'],
    [['test/both.spec.ts'], 'both'],
    [['test/alone.spec.ts', 'test/cluster/x.spec.ts'], 'both'],
  ])('says where what drives the whole system runs: %s on %s', (paths, topologies) => {
    const written = withProofs(page('| R5 | waits |  |  |  |'), [unit, ...paths.map(whole)], samples);
    expect(written).toMatch(new RegExp(`\\| ${topologies} \\| proved \\|$`, 'm'));
  });

  it('is red when a spec does not prove the row', () => {
    const rows = `| R5 | a | ${a} |  | ${only} |\n| R6 | b | ${a} |  | ${only} |\n| R7 | c | ${a} |  | ${only} |`;
    expect(complaints(rows)).toEqual(['docs/a.md: no title in libs/a.spec.ts begins with R7 (O1)']);
  });

  it('is red when a title cites a number that is no row', () => {
    expect(complaints(`| R5 | a | ${a} |  | ${only} |`)).toEqual(['libs/a.spec.ts cites R6, which is no row (O2)']);
  });

  const proved = `| R6 | b | ${a} |  | ${only} |\n`;

  it('is red when a row claims more than its specs show', () => {
    expect(complaints(`${proved}| R5 | a | ${a} | both | proved |`)).toEqual([expect.stringContaining('(O4)')]);
  });

  it('is red when a row has neither a test nor a reason', () => {
    const complained = complaints(`${proved}| R5 | a | ${a} |  | ${only} |\n| R7 | c |  |  | open: no test |`);
    expect(complained).toEqual(['docs/a.md: R7 has neither a test nor a reason (O5)']);
  });

  it('is red when a row is proved and has a reason why not', () => {
    const spec = { ...whole('test/both.spec.ts'), text: `await startSystem(); it('R43 limits', () => {});` };
    const rows = '| R43 | c | [both](../test/both.spec.ts) | both | proved |';
    expect(misnamed(page(rows), [spec], samples)).toEqual([expect.stringContaining('(O5)')]);
  });
});
