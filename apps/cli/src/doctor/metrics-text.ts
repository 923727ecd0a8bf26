// Reads gauges out of Prometheus text.

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Samples of the metric of exactly this name, from all texts. */
export function samplesOf(texts: readonly string[], name: string): readonly Sample[] {
  const lines = texts.flatMap((text) => text.split('\n'));
  return lines.flatMap((line) => {
    const [, found, labels = '', value = ''] = /^([a-zA-Z_:][\w:]*)(?:\{([^}]*)\})? (\S+)/.exec(line) ?? [];
    if (found !== name) return [];
    const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', text = '']) => [key, text] as const);
    return [{ labels: Object.fromEntries(pairs), value: Number(value) }];
  });
}

/** The largest value, or null where there is none. */
export const largest = (samples: readonly Sample[]): number | null =>
  samples.reduce<number | null>((most, { value }) => (most === null || value > most ? value : most), null);
