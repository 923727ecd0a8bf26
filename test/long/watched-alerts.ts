// A Prometheus with the rules on a short clock, and what a spec asks of it: was the alert silent, and does it fire now.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { recordings } from '../../deploy/observability/src/recordings.ts';
import { alertRules, rulesYaml } from '../../deploy/observability/src/rules.ts';
import { eventually } from '../e2e/conversation.ts';
import { shortAlert, shortRecording } from '../observability/short-clock.ts';
import { startPrometheus } from '../services/prometheus.ts';
import { serviceCache } from '../services/service-cache.ts';

/** They watch the machine, which others use too: no test says that they are silent. */
const ofTheMachine = ['DormouseDiskLow', 'DormouseEventLoopDelay', 'DormouseStoreSlow'];
/** Two scrapes or more for each `for` of the short clock. */
const scrapeSeconds = 2;
const askEveryMs = 500;

export interface WatchedAlerts {
  /** Names of the alerts that fire now, without those that watch the machine. */
  firingOfOurs(): Promise<readonly string[]>;
  /** Resolves when none of them fires. @throws after `withinMs`. */
  silent(names: readonly string[], withinMs: number): Promise<void>;
  /** Resolves when all of them have fired. @throws after `withinMs`, with what their rules see. */
  fired(names: readonly string[], withinMs: number): Promise<void>;
  stop(): Promise<void>;
}

type Watching =
  { readonly available: true; readonly alerts: WatchedAlerts } | { readonly available: false; readonly reason: string };

interface Alert {
  readonly state: string;
  readonly labels: { readonly alertname: string };
}

/** `targets`: `host:port` of each `/metrics`, by job. */
export async function watchAlerts(
  directory: string,
  targets: Readonly<Record<string, readonly string[]>>,
): Promise<Watching> {
  mkdirSync(directory, { recursive: true });
  const rules = join(directory, 'rules.yml');
  writeFileSync(rules, rulesYaml(recordings.map(shortRecording), alertRules.map(shortAlert)));
  const started = await startPrometheus({
    ...{ directory, cache: serviceCache, say: () => {}, targets, rules, intervalSeconds: scrapeSeconds },
  });
  if (!started.available) return { available: false, reason: `${started.reason} ${started.remedy}` };
  const { service } = started;
  await eventually(async () => (await fetch(`${service.url}/-/ready`)).ok);

  async function api<Data>(path: string): Promise<Data> {
    const answer = (await (await fetch(`${service.url}/api/v1/${path}`)).json()) as { data: Data; error?: string };
    if (answer.error !== undefined) throw new Error(`${path}: ${answer.error}`);
    return answer.data;
  }

  async function firing(): Promise<ReadonlySet<string>> {
    const { alerts } = await api<{ readonly alerts: readonly Alert[] }>('alerts');
    return new Set(alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname));
  }

  /** Both sides of a comparison that did not hold say more than its emptiness. */
  async function seen(names: readonly string[]): Promise<string> {
    const rules = alertRules.filter(({ alert }) => names.includes(alert)).map(shortAlert);
    const sides = rules.flatMap(({ expr }) => [expr, ...expr.split(/ (?:and|or|>|<|==) /)]);
    const lines = sides.map(async (query) => {
      const found = await api<object>(`query?query=${encodeURIComponent(query)}`).catch(String);
      return `${query}\n    ${JSON.stringify(found).slice(0, 1_000)}`;
    });
    return (await Promise.all(lines)).join('\n');
  }

  async function until(isSo: (now: ReadonlySet<string>) => boolean, withinMs: number): Promise<boolean> {
    for (const end = Date.now() + withinMs; Date.now() < end; await sleep(askEveryMs))
      if (isSo(await firing())) return true;
    return false;
  }

  const alerts: WatchedAlerts = {
    firingOfOurs: async () => [...(await firing())].filter((name) => !ofTheMachine.includes(name)),
    silent: async (names, withinMs) => {
      const isSilent = await until((now) => !names.some((name) => now.has(name)), withinMs);
      if (!isSilent) throw new Error(`${names.join(', ')}: firing without the fault`);
    },
    fired: async (names, withinMs) => {
      const missing = new Set(names);
      const have = await until((now) => {
        for (const name of now) missing.delete(name);
        return missing.size === 0;
      }, withinMs);
      if (!have) throw new Error(`did not fire: ${[...missing].join(', ')}\n${await seen([...missing])}`);
    },
    stop: () => service.stop(),
  };
  return { available: true, alerts };
}
