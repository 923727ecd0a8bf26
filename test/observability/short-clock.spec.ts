// The rules that the long tier fires by real faults are the rules that are shipped, and it leaves none out.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { recordings } from '../../deploy/observability/src/recordings.ts';
import { alertRules } from '../../deploy/observability/src/rules.ts';
import { root } from '../docs/document.ts';
import { onShortClock, shortAlert, shortened, shortRecording } from './short-clock.ts';

const withoutClocks = (expression: string): string => expression.replaceAll(/\[[^\]]+\]/g, '[]');

describe('rules on a short clock', () => {
  it('K1 divide durations, and nothing else', () => {
    expect(onShortClock('deriv(lag{p="5m"}[10m:1m]) > 900 and x10m > predict_linear(y[6h], 86400)')).toBe(
      'deriv(lag{p="5m"}[20000ms:2000ms]) > 900 and x10m > predict_linear(y[720000ms], 86400)',
    );
    expect(shortened('5m')).toBe('10000ms');
    expect(() => onShortClock('rate(x[5m] offset 1h)')).toThrow('no short clock');
  });

  it('are the rules of the installation otherwise', () => {
    for (const rule of alertRules) {
      const { expr, for: lasting, ...rest } = shortAlert(rule);
      expect(withoutClocks(expr)).toBe(withoutClocks(rule.expr));
      expect([rest.alert, lasting]).not.toContain(rule.for);
    }
    for (const each of recordings) expect(withoutClocks(shortRecording(each).expr)).toBe(withoutClocks(each.expr));
  });

  it('each have their fault in one place of the long tier', () => {
    const folder = join(root, 'test', 'long');
    const specs = readdirSync(folder).filter((name) => name.startsWith('alerts-'));
    const texts = specs.map((name) => readFileSync(join(folder, name), 'utf8'));
    const named = texts.flatMap((text) => [...text.matchAll(/'(Dormouse[A-Z]\w+)'/g)].map(([, name]) => name));
    expect(named.toSorted()).toEqual(alertRules.map(({ alert }) => alert).toSorted());
  });
});
