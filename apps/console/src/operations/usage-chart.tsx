// Tokens by day as bars, drawn by uPlot in the colours of the theme. The tables below it have the numbers.
import { useEffect, useRef, type ReactElement } from 'react';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { UsageRow } from '../api/queries.ts';
import { useTheme } from '../shell/theme.ts';

const dayS = 86_400;
const height = 240;

export function UsageChart({
  rows,
  from,
  days,
}: {
  readonly rows: readonly UsageRow[];
  readonly from: number;
  readonly days: number;
}): ReactElement {
  const place = useRef<HTMLDivElement>(null);
  const theme = useTheme();
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const chart = new UPlot(optionsFor(element), seriesOf(rows, from, days), element);
    const watch = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      chart.destroy();
    };
  }, [rows, from, days, theme]);
  return <div ref={place} className="chart" aria-hidden="true" />;
}

/** Days without usage are zero. */
function seriesOf(rows: readonly UsageRow[], from: number, days: number): UPlot.AlignedData {
  const byDay = new Map(rows.map((row) => [row.key.slice(0, 10), row]));
  const times = Array.from({ length: days }, (_, index) => from / 1_000 + index * dayS);
  const of = (field: 'input_tokens' | 'output_tokens'): number[] =>
    times.map((time) => byDay.get(new Date(time * 1_000).toISOString().slice(0, 10))?.[field] ?? 0);
  const [input, output] = [of('input_tokens'), of('output_tokens')];
  return [times, input.map((tokens, index) => tokens + (output[index] ?? 0)), output];
}

function optionsFor(element: HTMLElement): UPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string): string => resolved(element, `var(${name})`);
  const bar = { width: 0, paths: UPlot.paths.bars?.({ size: [0.7, 40] }), points: { show: false } };
  const axis = {
    stroke: colour('--ink-2'),
    grid: { stroke: colour('--edge'), width: 1 },
    ticks: { show: false },
    font: `12px ${style.fontFamily}`,
  };
  return {
    width: element.clientWidth,
    height,
    tzDate: (time) => UPlot.tzDate(new Date(time * 1_000), 'UTC'),
    cursor: { drag: { x: false, y: false } },
    axes: [axis, { ...axis, size: 64 }],
    series: [
      { label: 'Day', value: '{YYYY}-{MM}-{DD}' },
      { label: 'Tokens in and out', fill: colour('--blue'), ...bar },
      { label: 'Tokens out', fill: colour('--amber'), ...bar },
    ],
  };
}

/** A canvas does not know `light-dark()`: the browser computes the colour. */
function resolved(element: HTMLElement, value: string): string {
  const before = element.style.color;
  element.style.color = value;
  const colour = getComputedStyle(element).color;
  element.style.color = before;
  return colour;
}
