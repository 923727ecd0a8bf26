// The rules as Prometheus' own tool sees them: they load, and each alert fires in its situation and in no other.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { alertRules, runbookOf } from '../../deploy/observability/src/rules.ts';
import { root } from '../docs/document.ts';
import { prometheusPrograms } from '../services/prometheus.ts';
import { runCommand } from '../services/run-command.ts';
import { serviceCache } from '../services/service-cache.ts';
import { alertExamples, type Series } from './alert-examples.ts';

const rules = join(root, 'deploy', 'observability', 'rules', 'dormouse.yml');
const found = await prometheusPrograms(serviceCache, () => {});
const folder = mkdtempSync(join(tmpdir(), 'dormouse-promtool-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** @throws Error with what it says, when it does not accept. */
async function promtool(...args: readonly string[]): Promise<string> {
  if (!found.available) throw new Error(found.reason);
  return runCommand(found.programs.promtool, args, { withinMs: 60_000 });
}

type Expected = readonly Readonly<Record<string, unknown>>[];

/** promtool's test of one alert after fifty minutes of these series, in JSON, which is YAML. */
const situation = (alertname: string, series: Series, expected: Expected): object => ({
  interval: '1m',
  input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
  alert_rule_test: [{ eval_time: '50m', alertname, exp_alerts: expected }],
});

async function judge(name: string, ...tests: readonly object[]): Promise<string> {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify({ rule_files: [rules], evaluation_interval: '1m', tests }));
  return promtool('test', 'rules', file);
}

describe('the rules', () => {
  beforeEach((context) => {
    if (!found.available) context.skip(`${found.reason} ${found.remedy}`);
  });

  it('are loaded by Prometheus', async () => {
    expect(await promtool('check', 'rules', rules)).toContain('SUCCESS');
  });

  it.each(alertRules)('$alert fires in its situation, and stays silent in the other', async (rule) => {
    const { alert, severity, summary } = rule;
    const example = alertExamples[alert];
    if (example === undefined) throw new Error(`${alert} has no example`);
    const fired = {
      exp_labels: { ...example.labels, severity },
      exp_annotations: { summary, runbook_url: runbookOf(alert) },
    };
    const said = await judge(alert, situation(alert, example.fires, [fired]), situation(alert, example.silent, []));
    expect(said).toContain('SUCCESS');
  });

  it('an alert that does not fire is seen', async () => {
    const { fires } = alertExamples['DormouseThreadsParked'] ?? { fires: {} };
    await expect(judge('red', situation('DormouseThreadsParked', fires, []))).rejects.toThrow('FAILED');
  });

  it('a disk with room that is full within a day is seen', async () => {
    const free = 'dormouse_disk_free_bytes{job="standalone",instance="a"}';
    const alert = 'DormouseDiskLow';
    const { severity, summary } = alertRules.find((each) => each.alert === alert) ?? { severity: '', summary: '' };
    const fired = {
      exp_labels: { job: 'standalone', instance: 'a', severity },
      exp_annotations: { summary, runbook_url: runbookOf(alert) },
    };
    expect(await judge('trend', situation(alert, { [free]: '50000000000-200000000x60' }, [fired]))).toContain(
      'SUCCESS',
    );
  });
});
