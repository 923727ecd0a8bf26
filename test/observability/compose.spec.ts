// The compose profile `observability`, as far as that is to be seen without a container engine: its files parse, what
// they mount exists, and their addresses name services of the compose file.
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { metricServices } from '@dormouse/ports';
import { isInRepository, readDocument } from '../docs/document.ts';

interface Compose {
  readonly services: Readonly<
    Record<string, { readonly profiles?: readonly string[]; readonly volumes?: readonly string[] }>
  >;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const folder = 'deploy/observability/compose';
const read = (path: string): unknown => parse(readDocument(path).text, { merge: true });
const compose = read('docker-compose.yml') as Compose;
const profiled = Object.entries(compose.services).filter(([, { profiles }]) => profiles?.includes('observability'));

describe('the compose profile observability', () => {
  it('has a collector, Prometheus, Grafana and a trace store', () => {
    expect(profiled.map(([name]) => name).toSorted()).toEqual(['collector', 'grafana', 'prometheus', 'tempo']);
  });

  it.each(profiled)('%s mounts files and volumes that exist', (_name, { volumes = [] }) => {
    expect(volumes.length).toBeGreaterThan(0);
    for (const volume of volumes) {
      const [from = ''] = volume.split(':');
      const isThere = from.startsWith('./') ? isInRepository(from.slice(2)) : from in compose.volumes;
      expect(isThere, volume).toBe(true);
    }
  });

  it('scrapes each service as a job of its name, on its operations port', () => {
    const { scrape_configs: jobs } = read(`${folder}/prometheus.yml`) as { readonly scrape_configs: readonly object[] };
    const wanted = metricServices.map((name) => ({
      job_name: name,
      dns_sd_configs: [{ names: [name], type: 'A', port: 7429 }],
    }));
    expect(jobs).toEqual(wanted);
    for (const name of metricServices) expect(compose.services).toHaveProperty(name);
  });

  it.each(['collector.yml', 'tempo.yml', 'grafana/datasources.yml', 'grafana/dashboards.yml'])(
    '%s parses, and names services of the compose file',
    (file) => {
      const path = `${folder}/${file}`;
      expect(read(path)).toBeTypeOf('object');
      const hosts = [...readDocument(path).text.matchAll(/(?:https?:\/\/|endpoint: )([a-z][a-z-]*):\d+/g)];
      for (const [, host = ''] of hosts) expect(compose.services).toHaveProperty(host);
    },
  );
});
