// Callback messages that are known to be durable: positive facts only, written after durability. Losing it costs time.

export interface Dedup {
  seen(tenant: string, id: string): Promise<boolean>;
  remember(tenant: string, id: string): Promise<void>;
}
