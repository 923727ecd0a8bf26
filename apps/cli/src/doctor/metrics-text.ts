// Reads gauges out of Prometheus text.

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Samples of the metric of exactly this name. */
export function samplesOf(text: string, name: string): readonly Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, found, labels = '', value = ''] = /^([a-zA-Z_:][\w:]*)(?:\{([^}]*)\})? (\S+)/.exec(line) ?? [];
    if (found !== name) return [];
    const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', text = '']) => [key, text] as const);
    return [{ labels: Object.fromEntries(pairs), value: Number(value) }];
  });
}

/** The largest, or null where there is none. */
export function largest(samples: readonly Sample[]): Sample | null {
  return samples.reduce<Sample | null>(
    (most, sample) => (most === null || sample.value > most.value ? sample : most),
    null,
  );
}
