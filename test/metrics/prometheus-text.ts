// Reads Prometheus text (0.0.4) as strictly as a scraper does: names, types, labels, values, histograms.
//
// Invariants:
//   T1. Every sample belongs to the family whose TYPE line stands before it, and no family comes twice.
//   T2. A series comes once. The buckets of a histogram ascend, end with `+Inf`, and the last is its count.

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

export type Scrape = ReadonlyMap<string, Family>;

const metricName = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const sampleLine = /^([a-zA-Z_][a-zA-Z0-9_]*)(?:\{(.*)\})? (\S+)$/;
const labelPair = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y;

/** @throws Error at the first line that no scraper would take. */
export function readScrape(text: string): Scrape {
  const families = new Map<string, Family & { readonly samples: Sample[] }>();
  const helps = new Map<string, string>();
  let present: (Family & { readonly samples: Sample[] }) | null = null;
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, comment, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (comment === 'HELP') helps.set(name, rest);
    else if (comment === 'TYPE') {
      if (!metricName.test(name) || families.has(name)) throw new Error(`a family that is not one: ${line}`);
      present = { name, type: rest, help: helps.get(name) ?? '', samples: [] };
      families.set(name, present);
    } else {
      const sample = sampleOf(line);
      if (present === null || !belongs(sample.name, present)) throw new Error(`a sample without its family: ${line}`);
      present.samples.push(sample);
    }
  }
  for (const family of families.values()) checkSeries(family);
  return families;
}

function sampleOf(line: string): Sample {
  const [, name = '', pairs = '', number = ''] = sampleLine.exec(line) ?? [];
  const value = number === '+Inf' ? Number.POSITIVE_INFINITY : Number(number);
  if (name === '' || number === '' || Number.isNaN(value)) throw new Error(`no sample: ${line}`);
  const labels: Record<string, string> = {};
  labelPair.lastIndex = 0;
  while (labelPair.lastIndex < pairs.length) {
    const [, label = '', text = ''] = labelPair.exec(pairs) ?? [];
    if (label === '' || label in labels) throw new Error(`no labels: ${line}`);
    labels[label] = text;
  }
  return { name, labels, value };
}

const belongs = (sample: string, { name, type }: Family): boolean =>
  type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`].includes(sample) : sample === name;

/** (T2) */
function checkSeries({ name, type, samples }: Family): void {
  const seen = new Set<string>();
  for (const each of samples) {
    const series = `${each.name}${textOf(each.labels)}`;
    if (seen.has(series)) throw new Error(`${series} comes twice`);
    seen.add(series);
  }
  if (type !== 'histogram') return;
  for (const { labels, value } of samples.filter((each) => each.name === `${name}_count`)) {
    const buckets = samples.filter((each) => each.name === `${name}_bucket` && isWithin(each.labels, labels));
    const values = buckets.map((each) => each.value);
    if (values.some((each, place) => each < (values[place - 1] ?? 0))) throw new Error(`${name}: buckets descend`);
    if (buckets.at(-1)?.labels['le'] !== '+Inf' || values.at(-1) !== value) throw new Error(`${name}: no last bucket`);
  }
}

function isWithin(bucket: Sample['labels'], labels: Sample['labels']): boolean {
  const { le: _bound, ...others } = bucket;
  return textOf(others) === textOf(labels);
}

const textOf = (labels: Sample['labels']): string =>
  JSON.stringify(Object.entries(labels).toSorted(([one], [other]) => one.localeCompare(other)));

/** The sum over the series of a family that have these labels; of a histogram, of its counts. */
export function valueOf(scrape: Scrape, name: string, labels: Readonly<Record<string, string>> = {}): number {
  const family = scrape.get(name);
  const wanted = family?.type === 'histogram' ? `${name}_count` : name;
  return (family?.samples ?? [])
    .filter((sample) => sample.name === wanted)
    .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0);
}

/** Counters and histograms without a series: a rate over one that begins later than its process misses its first. */
export const familiesWithoutSeries = (scrape: Scrape): readonly string[] =>
  [...scrape.values()].filter(({ type, samples }) => type !== 'gauge' && samples.length === 0).map(({ name }) => name);

/** The age of what never was has no value; every other gauge has one once its process has its partitions. */
const agesOfNothing = ['dormouse_tool_discovery_age_seconds'];

export const gaugesWithoutSeries = (scrape: Scrape): readonly string[] =>
  [...scrape.values()]
    .filter(({ name, type, samples }) => type === 'gauge' && samples.length === 0 && !agesOfNothing.includes(name))
    .map(({ name }) => name);
