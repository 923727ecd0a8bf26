// `npm run bench:partitions`: prints how the partitioner spreads threads, as the tables of docs/guides/sizing.md.
import { balanceOf, type Distribution, distributions, movedShare, population } from './partition-balance.ts';

const seed = 1;
const sizes = [10_000, 100_000, 1_000_000];
const counts = [12, 24, 48, 96, 256, 1_024];
const changes: readonly (readonly [number, number])[] = [
  [12, 13],
  [12, 24],
  [12, 48],
  [24, 36],
  [256, 1_024],
];
const share = (value: number): string => `${(value * 100).toFixed(value < 0.01 ? 2 : 1)} %`;
const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |\n`;

let text = row([
  'threads',
  'partitions',
  'families',
  'fullest beside the mean',
  'its share',
  'fair share',
  'busiest thread',
]);
text += row(['---', '---', '---', '---', '---', '---', '---']);
for (const name of Object.keys(distributions) as readonly Distribution[])
  for (const size of sizes) {
    const threads = population(name, size, seed);
    for (const partitions of counts) {
      const { maxBesideMean, hottestShare, fairShare, busiestThreadShare } = balanceOf(threads, partitions);
      const cells = [share(hottestShare), share(fairShare), share(busiestThreadShare)];
      text += row([threads.length, partitions, name, `${maxBesideMean.toFixed(2)}×`, ...cells]);
    }
  }
text += '\n';
text += row(['partitions', 'become', 'threads in another partition']);
text += row(['---', '---', '---']);
const threads = population('uniform families', 100_000, seed);
for (const [from, to] of changes) text += row([from, to, share(movedShare(threads, from, to))]);
process.stdout.write(text);
