// docs/reference/settings.md, made from the schema that reads the settings and from the table of their readers.
import {
  type DescribedSetting,
  describedSettings,
  honouredVariables,
  type SettingReader,
  settingReaders,
  unitOf,
} from '@dormouse/host';
import { code, generatedNote, table } from './page-text.ts';

const introduction = `# Settings

A setting is an environment variable, or a flag of the same name, which wins: \`DORMOUSE_LOG_LEVEL=info\` is
\`--log-level info\`. \`DORMOUSE_DATA_DIR\` is also \`--data\`, and \`DORMOUSE_EXAMPLE_TOOLS=false\` also \`--no-example-tools\`.
All problems are reported at once, before anything starts; a variable that begins with \`DORMOUSE_\` and is no setting is
one of them. \`npm start -- --help\` prints this list.

The four settings \`DORMOUSE_KAFKA_BROKERS\`, \`DORMOUSE_MONGO_URL\`, \`DORMOUSE_REDIS_URL\` and \`DORMOUSE_MASTER_KEY\` together
choose the cluster, where each service is a process. Without them everything is one process.

A secret may be the text of a file instead, which \`DORMOUSE_<NAME>_FILE\` names: \`DORMOUSE_MASTER_KEY_FILE\`, and so for
\`BOOTSTRAP_KEY\`, \`PLATFORM_KEY\`, \`KAFKA_SASL\`, \`MONGO_URL\` and \`REDIS_URL\`. One line break at its end is not part of it.

Variables of the command line tool are in [its reference](cli.md).`;

const processes: readonly (readonly [SettingReader, string])[] = [
  ['standalone', 'The one process'],
  ['ingress-gateway', 'ingress-gateway'],
  ['callback-gateway', 'callback-gateway'],
  ['thread-processor', 'thread-processor'],
  ['tool-dispatcher', 'tool-dispatcher'],
  ['notifier', 'notifier'],
  ['setup', 'setup'],
];

const services = processes.map(([reader]) => reader).filter((reader) => reader !== 'standalone' && reader !== 'setup');

export function settingsPage(): string {
  const settings = describedSettings();
  return [
    introduction,
    '## All settings',
    table(
      ['variable', 'default', 'unit', 'read by', 'meaning'],
      settings.map((setting) => [
        code(setting.variable),
        standardText(setting),
        unitOf(setting.name) ?? '–',
        readersText(settingReaders[setting.name]),
        setting.about,
      ]),
    ),
    '## Standard variables',
    'OpenTelemetry reads more of its own variables (headers, certificates, samplers, limits), and Node reads `NODE_EXTRA_CA_CERTS`. `HTTP_PROXY` and `HTTPS_PROXY` are not read.',
    table(
      ['variable', 'default', 'unit', 'read by', 'meaning'],
      honouredVariables.map(({ name, standard, unit, readers, about }) => [
        code(name),
        standard === null ? '–' : code(standard),
        unit ?? '–',
        readersText(readers),
        about,
      ]),
    ),
    '## By process',
    ...processes.flatMap(([reader, title]) => [
      `### ${title}`,
      listText(settings.filter(({ name }) => settingReaders[name].includes(reader))),
    ]),
    generatedNote('the schema that reads the settings'),
  ].join('\n\n');
}

const standardText = ({ standard }: DescribedSetting): string => (standard === null ? '–' : code(standard));

function readersText(readers: readonly SettingReader[]): string {
  if (readers.length === 0) return 'none';
  const inCluster = services.filter((service) => readers.includes(service));
  const named = inCluster.length === services.length ? ['all five services'] : inCluster;
  const one = readers.includes('standalone') ? ['the one process'] : [];
  return [...one, ...named, ...(readers.includes('setup') ? ['setup'] : [])].join(', ');
}

const listText = (settings: readonly DescribedSetting[]): string =>
  `${settings.map(({ variable }) => code(variable)).join(', ')}.`;
