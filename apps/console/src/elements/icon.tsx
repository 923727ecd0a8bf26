// The console's icons: strokes on a grid of 16, in the colour of the text beside them. Never the only name of a thing.
import type { ReactElement } from 'react';

const paths = {
  threads: 'M2.5 4h11M2.5 8h11M2.5 12h7',
  inbox: 'M2 9.5 4 3h8l2 6.5V13H2zM2 9.5h3.5l1 1.5h3l1-1.5H14',
  agents: 'M8 2v2M4 6h8v7H4zM6.5 9h.01M9.5 9h.01M6.5 11h3',
  tools: 'M10.5 2a3.5 3.5 0 0 0-3.300 4.700L2 12l2 2 5.300-5.200A3.5 3.5 0 0 0 14 5.5L12 7l-2-1-1-2z',
  waiting: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11M8 5v3.200l2 1.300',
  parked: 'M8 2.5 14 13H2zM8 6.5v3M8 11.300h.01',
  usage: 'M3 13V9M8 13V3M13 13V6',
  settings: 'M3 4.5h6M12 4.5h1M3 11.5h1M7 11.5h6M10.5 3v3M5.5 10v3',
  plus: 'M8 3v10M3 8h10',
  copy: 'M5.5 5.5h8v8h-8zM3 10.5H2.5v-8h8V3',
  check: 'M3 8.5 6.5 12 13 4.5',
  cross: 'M4 4l8 8M12 4l-8 8',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M10.300 10.300 13.5 13.5',
  send: 'M2.5 8h10M8.5 4l4 4-4 4',
  fork: 'M4 2.5v11M4 8c5 0 7-1 7-3.5M11 4.5V3M9.5 4.5 11 2.800l1.5 1.700',
  stop: 'M4.5 4.5h7v7h-7z',
  retry: 'M3 8a5 5 0 0 1 8.700-3.300L13 6M13 3v3h-3M13 8a5 5 0 0 1-8.700 3.300L3 10M3 13v-3h3',
  close: 'M4 7h8v6H4zM5.5 7V5a2.5 2.5 0 0 1 5 0v2',
  chevron: 'M6 4l4 4-4 4',
  child: 'M4 2.5v6.5h7M8.5 6.5 11 9l-2.5 2.5',
  sun: 'M8 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5M8 1.5V3M8 13v1.5M1.5 8H3M13 8h1.5M3.400 3.400l1 1M11.600 11.600l1 1M3.400 12.600l1-1M11.600 4.400l1-1',
  moon: 'M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5',
  auto: 'M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5v11',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { readonly name: IconName }): ReactElement {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
