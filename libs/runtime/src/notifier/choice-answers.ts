// Posts what a person chose to the URL that the tool gave, at least once. RAP user-choice
//
// Invariants:
//   W1. An answer is one `{id, selected}`, the same bytes every time; it is retried until a tool server takes it or
//       refuses it, or the time is over. R91
//   W2. What cannot be delivered settles its call with an error: the tool would never answer.
//   W3. The URL came from a tool server: it passes the outbound guard; credentials go to the registered origin only.
//   W5. To a tool server that is paused nothing is posted: the answer is let go of, once its thread is marked, and it
//       has its whole time again once the server goes on. (holding H1, H5)
//   W4. An answer that was taken is not posted again, however often it is owed, nor is one that is under way. R94
import {
  answerOwner,
  type Clock,
  Fault,
  type Logger,
  type Owed,
  type Sealer,
  type Stores,
  type ToolTransport,
} from '@dormouse/ports';
import { encodeChoiceAnswer } from '@dormouse/protocol';
import { type AnswerChoice, inputIds } from '@dormouse/thread';
import { unsealed } from '../secrets/unsealed.ts';
import type { Holding } from '../tenants/holding.ts';
import { atAddress } from '../tool-dispatcher/registrations.ts';
import { traceHeaders } from '../tool-dispatcher/trace-headers.ts';

export interface ChoiceAnswersDeps extends Pick<Stores, 'inputs' | 'toolServers' | 'ledger'> {
  readonly transport: ToolTransport;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Default: null. */
  readonly holding?: Holding | null;
  readonly settings: { readonly noticeTimeoutMs: number; readonly answerRetryTotalMs: number };
  readonly signal: AbortSignal;
}

/** The function throws Fault UNAVAILABLE when it should be called again later. */
export function createChoiceAnswers(deps: ChoiceAnswersDeps): (owed: Owed<AnswerChoice>) => Promise<void> {
  const { inputs, toolServers, transport, sealer, ledger, clock, logger, settings, signal, holding = null } = deps;

  async function giveUp({ tenant, thread, trace, effect }: Owed<AnswerChoice>, why: string): Promise<void> {
    const { toolCallId, choiceId } = effect;
    logger.warn('choice_answer_undelivered', { tenant, thread, call: toolCallId, why });
    const id = inputIds.choiceAnswerFailure(choiceId);
    const detail = `the answer to its choice could not be delivered to the tool: ${why}`;
    await inputs.publish({ tenant, thread }, { kind: 'ChoiceAnswerFailure', id, toolCallId, detail }, trace); // (W2)
  }

  async function tryOnce(owed: Owed<AnswerChoice>): Promise<void> {
    const { tenant, thread, effect } = owed;
    const key = { tenant, thread };
    if ((await ledger.read(key, effect.id))?.outcome === 'sent') return; // (W4)
    const registered = await toolServers.get(tenant, effect.toolServer);
    if (registered === null) return giveUp(owed, `tool server "${effect.toolServer}" is not registered any more`);
    if (registered.paused && holding !== null) return await holding.holdForServer(key, registered.name); // (W5)
    const url = unsealed(sealer, answerOwner(tenant, thread, effect.toolCallId), effect.answerTo);
    if (url === null) return giveUp(owed, 'its address is sealed with a master key that was removed'); // (W2)
    const outcome = await transport.post({
      server: atAddress(registered, effect),
      url,
      body: JSON.stringify(encodeChoiceAnswer({ id: effect.toolCallId, selected: effect.selected })), // (W1)
      headers: { 'idempotency-key': effect.choiceId, ...traceHeaders(owed.trace) },
      timeoutMs: settings.noticeTimeoutMs,
      signal,
    });
    if (outcome.sent && outcome.status >= 200 && outcome.status < 300)
      return void (await ledger.settle(key, effect.id, 'sent', String(outcome.status)));
    const why = outcome.sent ? `HTTP ${outcome.status}` : outcome.code;
    const isRefused = outcome.sent ? outcome.status < 500 : outcome.code === 'OUTBOUND_FORBIDDEN';
    const triedSince = Math.max(owed.at, registered.resumedAt ?? owed.at);
    if (isRefused || clock.now() - triedSince >= settings.answerRetryTotalMs) return giveUp(owed, why);
    throw new Fault('UNAVAILABLE', `the answer to a choice was not taken: ${why}`);
  }

  /** (W4) */
  const underWay = new Map<string, Promise<void>>();

  return (owed) => {
    const name = `${owed.tenant}:${owed.thread}:${owed.effect.id}`;
    const known = underWay.get(name);
    if (known !== undefined) return known;
    const trying = tryOnce(owed).finally(() => underWay.delete(name));
    underWay.set(name, trying);
    return trying;
  };
}
