// Deletes old answers by idempotency key, expired logins, revocations and tallies, old activity of tool servers, old
// deliveries of webhooks and old claims of what sources delivered, at start and then every hour. Attempts of calls
// stay: they are kept as long as the log of their thread.
import { activityKeptMs, claimsKeptMs, type Clock, deliveriesKeptMs } from '@dormouse/ports';
import type { GroupWriter } from '../writer/group-writer.ts';
import { sweepClaims } from './arrivals/sources.ts';
import { sweepDeliveries } from './hooks/deliveries.ts';
import { sweepLogins } from './views.ts';
import { answersKeptMs, sweepKeys } from './idempotency-keys.ts';
import { sweepRevokedTokens } from './access/revoked-tokens.ts';
import { sweepTallies } from './limits/tenant-tallies.ts';
import { sweepActivity } from './tool-activity.ts';

const sweepEveryMs = 3_600_000;

export function startSweeper(writer: GroupWriter, clock: Clock): { stop(): void } {
  const sweep = (): void => {
    const now = clock.now();
    const swept = [
      writer.rows('lazy', sweepKeys, [[now - answersKeptMs]]),
      writer.rows('lazy', sweepLogins, [[now]]),
      writer.rows('lazy', sweepActivity, [[now - activityKeptMs]]),
      writer.rows('lazy', sweepRevokedTokens, [[now]]),
      writer.rows('lazy', sweepDeliveries, [[now - deliveriesKeptMs]]),
      writer.rows('lazy', sweepClaims, [[now - claimsKeptMs]]),
      writer.rows('lazy', sweepTallies, [[now]]),
    ];
    // What could not be deleted now is deleted an hour later.
    void Promise.allSettled(swept);
  };
  sweep();
  const timer = setInterval(sweep, sweepEveryMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
