// The chart's own files, without Helm: generated ones are equal to their sources, and every value is described.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readDocument, root } from '../docs/document.ts';
import { chartFiles, chartFolder, chartSchema, chartValues, type ValueSchema, valueRows } from './chart-files.ts';

describe('the chart', () => {
  it.each([...chartFiles()])('C1 %s is made from its sources', (path, text) => {
    expect(readDocument(path).text, 'node --conditions=dormouse-source test/deploy/write-chart.ts').toBe(text);
  });

  it('has no file of a dashboard that is gone', () => {
    const names = readdirSync(join(root, chartFolder, 'files', 'dashboards'));
    expect(names).toEqual(readdirSync(join(root, 'deploy/observability/dashboards')));
  });

  it('C2 describes every value, and takes no other', () => {
    expect(problemsOf(chartSchema())).toEqual([]);
  });

  it('C2 finds a value without a description, and a map that takes others', () => {
    const sample = {
      type: 'object',
      description: 'a',
      additionalProperties: false,
      properties: { one: { type: 'string' } },
    };
    expect(problemsOf(sample)).toEqual(['/one has no description']);
    expect(problemsOf({ ...sample, additionalProperties: undefined, properties: {} })).toEqual([' takes other values']);
  });

  it('C2 has a standard for every value, or a row that says there is none', () => {
    const rows = valueRows(chartSchema(), chartValues());
    const overrides = /^services\.\w+\.(?!replicas|autoscaling|pdb)/;
    const without = rows.filter(({ name, standard }) => standard === undefined && !overrides.test(name));
    expect(without.map(({ name }) => name).filter((name) => !name.endsWith('pdb.minAvailable'))).toEqual([]);
    expect(rows.length).toBeGreaterThan(150);
  });

  it('has the version of the packages', () => {
    const { version } = JSON.parse(readDocument('package.json').text) as { readonly version: string };
    expect(parse(readDocument(`${chartFolder}/Chart.yaml`).text)).toMatchObject({ version, appVersion: version });
  });

  it('is tested by more than 210 unit tests, of which more than 40 are of refused values', () => {
    const folder = join(root, chartFolder, 'tests');
    const titles = (name: string): number =>
      readDocument(`${chartFolder}/tests/${name}`).text.match(/^ {2}- it: /gm)?.length ?? 0;
    const counts = readdirSync(folder).map((name) => [name, titles(name)] as const);
    const of = (pattern: RegExp): number =>
      counts.reduce((sum, [name, number]) => sum + (pattern.test(name) ? number : 0), 0);
    expect(of(/./)).toBeGreaterThanOrEqual(210);
    expect(of(/^(refused-values|values-schema)/)).toBeGreaterThanOrEqual(40);
  });
});

function problemsOf(schema: ValueSchema, at = ''): readonly string[] {
  const own = [
    ...(schema.description === undefined || schema.description === '' ? [`${at} has no description`] : []),
    ...(schema.properties !== undefined && schema.additionalProperties !== false ? [`${at} takes other values`] : []),
  ];
  return [
    ...own,
    ...Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => problemsOf(inner, `${at}/${name}`)),
  ];
}
