// `npm run bench:partitions`: prints how the partitioner spreads threads, as the tables of docs/guides/sizing.md. Each
// figure is the median of three draws.
import { balanceOf, type Distribution, distributions, movedShare, population } from './partition-balance.ts';

const seeds = [1, 2, 3];
const sizes = [10_000, 100_000, 1_000_000];
const counts = [12, 48, 256, 1_024];
const changes: readonly (readonly [number, number])[] = [
  [12, 13],
  [12, 24],
  [12, 48],
  [24, 36],
  [256, 1_024],
];
const share = (value: number): string => `${(value * 100).toFixed(value < 0.01 ? 2 : 1)} %`;
const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |\n`;
const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;

let text = row(['threads', 'families', ...counts.map((count) => `${count} partitions`)]);
text += row(['---', '---', ...counts.map(() => '---')]);
for (const name of Object.keys(distributions) as readonly Distribution[])
  for (const size of sizes) {
    const drawn = seeds.map((seed) => {
      const threads = population(name, size, seed);
      return { count: threads.length, balances: counts.map((partitions) => balanceOf(threads, partitions)) };
    });
    const cells = counts.map((_, nth) => {
      const found = drawn.flatMap(({ balances }) => balances[nth] ?? []);
      const hottest = share(median(found.map(({ hottestShare }) => hottestShare)));
      return `${median(found.map(({ maxBesideMean }) => maxBesideMean)).toFixed(2)}×, ${hottest}`;
    });
    text += row([drawn[0]?.count ?? 0, name, ...cells]);
  }
text += '\n';
text += row(['partitions', 'become', 'threads in another partition']);
text += row(['---', '---', '---']);
const threads = population('uniform families', 100_000, 1);
for (const [from, to] of changes) text += row([from, to, share(movedShare(threads, from, to))]);
process.stdout.write(text);
