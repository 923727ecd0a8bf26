// Callback messages that are known to be durable: positive facts only, written after durability. Losing it costs time.
import type { Soon } from './soon.ts';

export interface Dedup {
  seen(tenant: string, id: string): Soon<boolean>;
  remember(tenant: string, id: string): Soon<void>;
}
