// The name of a thread everywhere outside the heart. The tenant comes first, in every key, index and topic key.
import type { TenantId } from '@dormouse/thread';

export interface ThreadKey {
  readonly tenant: TenantId;
  readonly thread: string;
}
