// Callback messages that are known to be durable: positive facts only, written after durability. Losing it costs time.
import type { TenantId } from '@dormouse/thread';

export interface Dedup {
  seen(tenant: TenantId, id: string): Promise<boolean>;
  remember(tenant: TenantId, id: string): Promise<void>;
}
