// Every generated file of this package, by its path in the repository. `write.ts` writes them; a test compares them.
import { alertRules, rulesYaml } from './rules.ts';
import { kafka, lanes } from './dashboards/stores.ts';
import { models } from './dashboards/models.ts';
import { overview } from './dashboards/overview.ts';
import { tools } from './dashboards/tools.ts';
import { waiting } from './dashboards/waiting.ts';
import { grafanaJson } from './grafana.ts';
import { recordings } from './recordings.ts';

export const dashboards = [overview, tools, models, kafka, lanes, waiting] as const;

const folder = 'deploy/observability';

export const observabilityFiles = (): ReadonlyMap<string, string> =>
  new Map([
    ...dashboards.map((each) => [`${folder}/dashboards/${each.name}.json`, grafanaJson(each)] as const),
    [`${folder}/rules/dormouse.yml`, rulesYaml(recordings, alertRules)] as const,
  ]);
