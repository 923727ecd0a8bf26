// `npm run bench:capacity`: prints the tables of docs/guides/sizing.md that come from the capacity model.
import { figureTable, planTable, standaloneTable } from './capacity-tables.ts';
import { measuredFigures } from './figures.ts';

const figures = measuredFigures();
process.stdout.write([figureTable(figures), standaloneTable(figures), planTable(figures)].join('\n'));
