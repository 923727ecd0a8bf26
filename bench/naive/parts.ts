// The common parts of the naive services: addresses and clients.
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    kafka: { type: 'string' },
    mongo: { type: 'string' },
    redis: { type: 'string' },
    tools: { type: 'string' },
    model: { type: 'string' },
    prefix: { type: 'string', default: 'naive.' },
    port: { type: 'string', default: '0' },
    callback: { type: 'string' },
    session: { type: 'string', default: '10000' },
  },
});

export const settings = values;
export const topics = { inputs: `${values.prefix}inputs`, dispatches: `${values.prefix}dispatches` } as const;

export interface Input {
  readonly thread: string;
  readonly kind: 'user' | 'result';
  readonly text: string;
  readonly call?: string;
}

export interface Dispatch {
  readonly thread: string;
  readonly call: string;
  readonly operation: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface HistoryEvent {
  readonly thread: string;
  readonly position: number;
  readonly role: 'user' | 'assistant' | 'tool';
  readonly text: string;
  readonly call: string | null;
}

export function required(name: keyof typeof values): string {
  const value = values[name];
  if (value === undefined) throw new TypeError(`--${name} is needed`);
  return value;
}
