// The checked-in dashboards and rules are those of their source, and name only what processes export.
import { describe, expect, it } from 'vitest';
import { metricsIn } from '../../deploy/observability/src/expression.ts';
import { dashboards, observabilityFiles } from '../../deploy/observability/src/files.ts';
import { knownMetrics } from '../../deploy/observability/src/known-metrics.ts';
import { recordings } from '../../deploy/observability/src/recordings.ts';
import { alertRules, runbookOf } from '../../deploy/observability/src/rules.ts';
import { readDocument, repositoryFiles } from '../docs/document.ts';

const known = knownMetrics();
const unknownIn = (expression: string): readonly string[] =>
  [...metricsIn(expression)].filter((name) => !known.has(name));
const queries = dashboards.flatMap(({ name, rows }) =>
  rows.flatMap(({ panels }) =>
    panels.flatMap((each) => each.queries.map(({ expr }) => [name, each.title, expr] as const)),
  ),
);

describe('the generated files', () => {
  it.each([...observabilityFiles()])('%s is that of its source', (path, text) => {
    expect(readDocument(path).text).toBe(text);
  });

  it('are all that is in their folders', () => {
    const there = repositoryFiles((path) => /^deploy\/observability\/(dashboards|rules)\//.test(path));
    expect(there.toSorted()).toEqual([...observabilityFiles().keys()].toSorted());
  });
});

describe('an expression', () => {
  it.each(queries)('of the dashboard %s, panel %s, names metrics that exist', (_dashboard, _panel, expression) => {
    expect(metricsIn(expression).size).toBeGreaterThan(0);
    expect(unknownIn(expression)).toEqual([]);
  });

  it.each([
    ...recordings.map(({ record, expr }) => [record, expr] as const),
    ...alertRules.map(({ alert, expr }) => [alert, expr] as const),
  ])('of the rule %s names metrics that exist', (_rule, expression) => {
    expect(metricsIn(expression).size).toBeGreaterThan(0);
    expect(unknownIn(expression)).toEqual([]);
  });

  it('with a metric that does not exist is seen', () => {
    expect(unknownIn('sum (rate(dormouse_nothing_total[5m])) + up')).toEqual(['dormouse_nothing_total']);
    expect(unknownIn('dormouse_turn_duration_seconds')).toEqual(['dormouse_turn_duration_seconds']);
  });

  it('that does not parse is seen', () => {
    expect(() => metricsIn('sum (rate(up[5m])')).toThrow('does not parse');
  });
});

describe('a dashboard', () => {
  it.each(dashboards)('$name has a title of its own for each panel of a row, and a sentence', ({ rows }) => {
    for (const { panels } of rows) {
      expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
      for (const { description } of panels) expect(description).toMatch(/\.$/);
    }
  });
});

describe('the alerts', () => {
  it('have names and runbooks of their own, and every runbook has its alert', () => {
    const pages = repositoryFiles((path) => path.startsWith('docs/runbooks/') && !path.endsWith('README.md'));
    expect(pages.toSorted()).toEqual(alertRules.map(({ alert }) => runbookOf(alert)).toSorted());
    expect(alertRules.length).toBeGreaterThanOrEqual(15);
  });

  it.each(alertRules)('$alert has a runbook with its query and its four parts', ({ alert, expr }) => {
    const { text } = readDocument(runbookOf(alert));
    expect(text).toContain(`# ${alert}\n`);
    expect(text).toContain(`\n${expr}\n`);
    expect(text.match(/^## .*$/gm)).toEqual([
      '## What it means',
      '## How to see it',
      '## What to do',
      '## When it resolves',
    ]);
    expect(text).toMatch(/@dormouse\/cli |dormouse |grep /);
  });
});
