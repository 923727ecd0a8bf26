// Brings one call to its tool server and writes down how that ended: the two delivery classes over the
// ledger of (V7). Not here: what is sent (invocation.ts), whose turn it is (server-gate.ts), publishing a failure.
//
// Invariants:
//   D1. The ledger is read before the first POST and again before every later one; an outcome in it ends the matter, so
//       a call that was withdrawn before it was begun never begins.
//   D2. An outcome is in the ledger before it is reported anywhere; the first recorded outcome stays and is the one
//       that counts.
//   D3. Every attempt is recorded before `deliver` returns, and before it is repeated; its record and an outcome go to
//       the store together.
//   D4. At least once: repeated on 5xx, timeouts and broken connections until the end of the schedule, never after an
//       answer of another kind. The schedule's length also ends a call that is held at the gate. A call whose result
//       has come is not repeated: it was taken, whatever the server answered.
//   D5. At most once: a durable claim, read back, then one POST. A connection that failed before a byte was sent does
//       not count. A delivery that finds the claim taken waits longer than a POST may take, and then a grace in which a
//       result wins.
//   D6. A call that waits (between attempts, at the gate, for another process) holds no place. A server's waiting calls
//       take at most as much room as they leave free; a call beyond that is refused before it is begun, and the model
//       gets the reason.
//   D7. A call of a tenant that is not active, of a paused agent, or to a paused tool server is not sent: asked right
//       before each POST, and of a call at most once before its claim. A claim under which no byte was sent is given
//       back: sent again, it is a new call. (holding H1, H5)
//   D8. A pause takes no time of the schedule: attempts that were made before the tool server was resumed do not count
//       for its end.
import { type Place } from '@dormouse/collections';
import {
  Fault,
  type Attempt,
  type Clock,
  type DispatchLedger,
  type DispatchOutcome,
  type Entropy,
  type LedgerEntry,
  type Logger,
  type SendOutcome,
  type ThreadKey,
  type ThreadLog,
  type ToolTransport,
} from '@dormouse/ports';
import { inputIds } from '@dormouse/thread';
import { isRefusedHere } from './breaker.ts';
import {
  crowded,
  describe,
  exhausted,
  fromLedger,
  heldBack,
  ledgerDetail,
  refusal,
  unknownOutcome,
  type Failure,
} from './dispatch-failure.ts';
import type { Invocation, OwedCall } from '../invocation.ts';
import type { Registrations } from '../registrations.ts';
import { TimedCancelToken, type CancelToken } from './cancel-token.ts';
import { retryDelayMs } from './retry-schedule.ts';
import type { Holding } from '../../tenants/holding.ts';
import type { Leave, ServerGates } from './server-gate.ts';
import type { DispatcherSettings } from '../settings.ts';

export interface DeliveryDeps {
  readonly ledger: DispatchLedger;
  /** Shows whether a result has come in the meantime. */
  readonly log: Pick<ThreadLog, 'findByInputs'>;
  readonly transport: ToolTransport;
  readonly gates: ServerGates;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly logger: Logger;
  readonly settings: DispatcherSettings;
  readonly holding: Holding | null;
  readonly registrations: Registrations;
  /** Ends POSTs that are under way; after that nothing is written any more. */
  readonly hardStop: AbortSignal;
}

/** How the call ended, as the ledger has it. */
export interface Conclusion {
  readonly outcome: DispatchOutcome;
  /** The failure to report to the model; null when there is nothing to report. */
  readonly failure: Failure | null;
  /** Another delivery of the call had come to it before. */
  readonly isOld?: true;
}

/** A call that this process delivers. */
export interface Delivery {
  readonly call: OwedCall;
  readonly key: ThreadKey;
  /** Over when the call was withdrawn, or the process stops. */
  readonly cancelToken: CancelToken;
  /** Given back while the call waits. (D6) */
  readonly place: Place;
  /** Whether so many calls to its server wait that one more is not begun. (D6) */
  readonly isCrowded: boolean;
}

/** Thrown when the call must wait until its tenant, agent or tool server goes on again. (D7) */
export class HeldBack extends Error {}

/** Thrown when waiting was ended from outside. */
export class Interrupted extends Error {}

/** Attempts so far, those of an earlier process included: the schedule continues from there. */
interface Progress {
  made: number;
  firstAt: number;
}

type May = 'go' | 'lost' | Conclusion;
interface Begin {
  /** Asked when the turn has come, right before a POST. */
  (): Promise<May>;
  /** Undoes what was begun, of a call that was not sent. */
  readonly undo?: () => Promise<void>;
}

/** A ledger that was read this short a time ago is not read again. */
const freshMs = 1_000;

/** @throws Fault when the process stops or a store fails: the bus delivers the call again. */
export async function deliver(
  deps: DeliveryDeps,
  delivery: Delivery,
  build: () => Promise<Invocation | Failure>,
): Promise<Conclusion> {
  const readAt = deps.clock.now();
  // (D1) Both reads go out together: nearly every call is a new one, and needs both.
  const [invocation, { entry, attempts }] = await Promise.all([
    build(),
    deps.ledger.look(delivery.key, delivery.call.effect.toolCallId),
  ]);
  const known = concluded(entry);
  if (known !== null) return { ...known, ...(known.outcome === 'cancelled' ? {} : { isOld: true }) };
  if (entry !== null && entry.nonce !== null) return waitForOther(deps, delivery);
  if ('code' in invocation) return conclude(deps, delivery, 'refused', invocation);
  if (delivery.isCrowded && attempts.length === 0)
    return conclude(deps, delivery, 'refused', crowded(delivery.call.effect.toolServer)); // (D6)
  const progress = progressOf(attempts, readAt, invocation.server.resumedAt);
  const once = delivery.call.effect.delivery === 'at_most_once';
  const begin = once ? claim(deps, delivery) : lookAgain(deps, delivery, progress, readAt);
  return send(deps, delivery, invocation, progress, begin);
}

async function send(
  deps: DeliveryDeps,
  delivery: Delivery,
  invocation: Invocation,
  progress: Progress,
  begin: Begin,
): Promise<Conclusion> {
  const { toolServer, delivery: guarantee } = delivery.call.effect;
  for (;;) {
    const tried = await attempt(deps, delivery, invocation, progress, begin).catch(async (error: unknown) => {
      if (error instanceof HeldBack) await begin.undo?.(); // (D7)
      throw error;
    });
    if (tried === 'lost') return waitForOther(deps, delivery);
    if ('failure' in tried) return tried;
    const { outcome, made } = tried;
    const ended = endOf(outcome);
    if (ended !== null)
      return await conclude(deps, delivery, ended, ended === 'sent' ? null : refusal(toolServer, outcome), made); // (D3)
    await withRetries(deps, delivery, () => deps.ledger.record(delivery.key, made));
    if (guarantee === 'at_most_once' && (outcome.sent || outcome.reached)) {
      await pause(deps, delivery, deps.settings.unknownOutcomeGraceMs); // (D5)
      return conclude(deps, delivery, 'unknown', unknownOutcome(toolServer, describe(outcome)));
    }
    const delayMs = delayAfter(deps, progress, outcome); // (D4)
    if (delayMs === null) return conclude(deps, delivery, 'exhausted', exhausted(toolServer, progress.made, outcome));
    await pause(deps, delivery, delayMs);
  }
}

/** A POST that was made. */
interface Tried {
  readonly outcome: SendOutcome;
  readonly made: Attempt;
}

/** One POST, when the server's gate lets it through. */
async function attempt(
  deps: DeliveryDeps,
  delivery: Delivery,
  invocation: Invocation,
  progress: Progress,
  begin: Begin,
): Promise<Tried | 'lost' | Conclusion> {
  const { clock, hardStop, settings } = deps;
  const { tenant, effect } = delivery.call;
  const leftMs = settings.retryTotalMs - Math.max(0, clock.now() - progress.firstAt);
  const cancelToken = new TimedCancelToken(delivery.cancelToken, clock, leftMs);
  const leave =
    deps.gates.enterNow(tenant, effect.toolServer, cancelToken) ?? (await enterLater(deps, delivery, cancelToken));
  cancelToken.dropAlarm();
  if (delivery.cancelToken.isCancelled) leave?.(null); // admitted by the gate, but ended while it waited for a place
  if (delivery.cancelToken.isCancelled) throw new Interrupted();
  if (leave === null) {
    await refuseHeld(deps, delivery);
    return conclude(deps, delivery, 'exhausted', heldBack(effect.toolServer, progress.made)); // (D4)
  }
  let outcome: SendOutcome | null = null;
  let at = 0;
  try {
    await refuseHeld(deps, delivery);
    const may = await begin();
    if (may !== 'go') return may;
    at = clock.now();
    const about = { ...delivery.key, toolCallId: effect.toolCallId, attempt: progress.made, at };
    const { ackTimeoutMs: timeoutMs } = settings;
    outcome = await deps.transport.post({ ...invocation, userId: effect.userId, timeoutMs, signal: hardStop, about });
  } finally {
    leave(outcome);
  }
  if (hardStop.aborted) throw stopping();
  if (progress.made === 0) progress.firstAt = at;
  progress.made += 1;
  const status = outcome.sent ? outcome.status : outcome.code;
  const durationMs = Math.max(0, clock.now() - at);
  return { outcome, made: { toolCallId: effect.toolCallId, number: progress.made, at, status, durationMs } };
}

/** What is held does not wait at the gate. (D6, D7) */
async function enterLater(deps: DeliveryDeps, delivery: Delivery, cancelToken: CancelToken): Promise<Leave | null> {
  const { tenant, effect } = delivery.call;
  await refuseHeld(deps, delivery);
  return delivery.place.releasedDuring(() => deps.gates.enter(tenant, effect.toolServer, cancelToken));
}

/** (D7) @throws HeldBack, once the thread is marked. */
async function refuseHeld({ holding, registrations }: DeliveryDeps, { key, call }: Delivery): Promise<void> {
  if (holding === null) return;
  const { toolServer } = call.effect;
  const isPaused = (await registrations.get(key.tenant, toolServer))?.paused === true;
  if (isPaused) await holding.holdForServer(key, toolServer);
  if (isPaused || (await holding.holds(key)) || (await holding.holdsAgent(key))) throw new HeldBack();
}

/** At least once: the ledger was just read, unless the gate held the call; a repetition looks again. (D1, D4) */
function lookAgain(deps: DeliveryDeps, delivery: Delivery, progress: Progress, readAt: number): Begin {
  const { toolCallId } = delivery.call.effect;
  async function look(first: boolean): Promise<May> {
    const known = concluded(await readLedger(deps, delivery));
    if (known !== null || first) return known ?? 'go';
    const results = [inputIds.result(toolCallId), inputIds.confirmation(toolCallId)];
    const found = await withRetries(deps, delivery, () => deps.log.findByInputs(delivery.key, results));
    return found.every((commit) => commit === null) ? 'go' : conclude(deps, delivery, 'sent', null);
  }
  return async () => {
    const first = progress.made === 0;
    return first && deps.clock.now() - readAt <= freshMs ? 'go' : look(first);
  };
}

/** At most once: the claim before the first POST; a repetition only looks whether the matter has ended. (D5) */
function claim(deps: DeliveryDeps, delivery: Delivery): Begin {
  const { toolCallId } = delivery.call.effect;
  const nonce = deps.entropy.nonce();
  let claimed = false;
  async function begin(): Promise<May> {
    const at = deps.clock.now();
    if (!claimed && !(await withRetries(deps, delivery, () => deps.ledger.claim(delivery.key, toolCallId, nonce, at))))
      return 'lost';
    claimed = true;
    const entry = await readLedger(deps, delivery);
    return concluded(entry) ?? (entry?.nonce === nonce ? 'go' : 'lost');
  }
  const undo = async (): Promise<void> => {
    if (claimed) await withRetries(deps, delivery, () => deps.ledger.unclaim(delivery.key, toolCallId, nonce));
  };
  return Object.assign(begin, { undo });
}

/** The claim is taken: by another process, or by this one before it died. (D5) */
async function waitForOther(deps: DeliveryDeps, delivery: Delivery): Promise<Conclusion> {
  const { ackTimeoutMs, unknownOutcomeGraceMs } = deps.settings;
  deps.logger.info('claim_lost', { ...delivery.key, call: delivery.call.effect.toolCallId });
  const entry = await readLedger(deps, delivery);
  const fullMs = 2 * ackTimeoutMs + unknownOutcomeGraceMs;
  const passedMs = deps.clock.now() - (entry?.claimedAt ?? deps.clock.now());
  await pause(deps, delivery, fullMs - Math.max(0, passedMs)); // never longer, also when the clock has jumped back
  const why = 'whoever was sending it has not come back';
  const known = concluded(await readLedger(deps, delivery));
  if (known !== null) return { ...known, isOld: true };
  return conclude(deps, delivery, 'unknown', unknownOutcome(delivery.call.effect.toolServer, why));
}

/** RAP transport, Delivery: any 2xx is the acknowledgement, a 4xx is final, redirects are not followed. R4, R6 */
function endOf(outcome: SendOutcome): 'sent' | 'refused' | null {
  if (!outcome.sent) return isRefusedHere(outcome.code) ? 'refused' : null;
  if (outcome.status >= 200 && outcome.status < 300) return 'sent';
  return outcome.status < 500 ? 'refused' : null;
}

/** Milliseconds until the next attempt, or null when there is none. */
function delayAfter(
  { clock, entropy, settings }: DeliveryDeps,
  progress: Progress,
  outcome: SendOutcome,
): number | null {
  const retryAfterMs = outcome.sent ? outcome.retryAfterMs : null;
  const elapsedMs = Math.max(0, clock.now() - progress.firstAt);
  return retryDelayMs(settings, progress.made, elapsedMs, retryAfterMs, entropy.fraction());
}

const progressOf = (attempts: readonly Attempt[], now: number, resumedAt = Number.NEGATIVE_INFINITY): Progress => ({
  made: attempts.reduce((most, { number }) => Math.max(most, number), 0),
  firstAt: Math.max(
    attempts.reduce((first, { at }) => Math.min(first, at), now),
    Math.min(now, resumedAt), // (D8)
  ),
});

/** The end of a call according to the ledger; null when it has not ended. */
function concluded(entry: LedgerEntry | null): Conclusion | null {
  if (entry === null || entry.outcome === null) return null;
  const { outcome, detail } = entry;
  return { outcome, failure: outcome === 'sent' || outcome === 'cancelled' ? null : fromLedger(detail) };
}

/** Writes the outcome, and the attempt that led to it; the first outcome written stays. (D2, D3) */
async function conclude(
  deps: DeliveryDeps,
  delivery: Delivery,
  outcome: DispatchOutcome,
  failure: Failure | null,
  made?: Attempt,
): Promise<Conclusion> {
  const detail = failure === null ? null : ledgerDetail(failure);
  const recorded = await withRetries(deps, delivery, () =>
    deps.ledger.settle(delivery.key, delivery.call.effect.toolCallId, outcome, detail, made),
  );
  if (recorded === outcome) return { outcome, failure };
  return concluded(await readLedger(deps, delivery)) ?? { outcome: recorded, failure: null };
}

const readLedger = (deps: DeliveryDeps, delivery: Delivery): Promise<LedgerEntry | null> =>
  withRetries(deps, delivery, () => deps.ledger.read(delivery.key, delivery.call.effect.toolCallId));

async function pause(deps: DeliveryDeps, delivery: Delivery, ms: number): Promise<void> {
  if (ms > 0) await delivery.place.releasedDuring(() => deps.clock.sleep(ms, delivery.cancelToken.signal)); // (D6)
  if (delivery.cancelToken.isCancelled) throw new Interrupted();
}

const stopping = (): Fault => new Fault('UNAVAILABLE', 'the dispatcher is stopping');

/** A store that fails in the middle of a delivery is retried for a while: what was sent must not be forgotten. */
async function withRetries<T>(deps: DeliveryDeps, delivery: Delivery, operation: () => Promise<T>): Promise<T> {
  const { clock, settings, hardStop, logger } = deps;
  const until = clock.now() + settings.retryMaxMs;
  for (let delayMs = 100; ; delayMs *= 2) {
    if (hardStop.aborted) throw stopping();
    try {
      return await operation();
    } catch (error) {
      if (!(error instanceof Fault) || clock.now() + delayMs > until || delivery.cancelToken.isCancelled) throw error;
      logger.warn('dispatch_ledger_unavailable', { code: error.code, call: delivery.call.effect.toolCallId });
      await clock.sleep(delayMs, delivery.cancelToken.signal);
    }
  }
}
