// Links with which people without a key answer approvals: they are made here, looked at, and answered once.
//
// Invariants:
//   A1. Looking at a link changes nothing, however often: programs that show a preview of it do that.
//   A2. A link is used once by what it answers: the thread counts one answer of a link, and refuses the next. There is
//       no list of used links.
//   A3. A link is bound to the arguments that it was made for: a call that has others meanwhile is not answered.
//   A4. A link whose tenant may not go on is neither shown nor answered, and works again when the tenant is resumed.
//   A5. An answer is in the audit with the link as its actor. (choices H5)
import type { ThreadKey, TenantId } from '@dormouse/ports';
import { type Call, callOf, type Choice, own } from '@dormouse/thread';
import type { IssuedToken } from '../access/thread-token.ts';
import type { IngressParts } from '../ingress-ports.ts';
import type { Requester } from '../../audit/audit-entry.ts';
import { loadThread } from '../../log/thread-reader.ts';
import type { TenantRecords } from '../../tenants/tenant-records.ts';
import type { AnswerLink, AnswerLinks, LinkAnswer } from '../access/answer-link.ts';
import { publicId, type RequestOrigin } from '../access/client-id.ts';
import { type ChoiceView, openChoices, shownHash } from '../read/choice-view.ts';
import { answered, type Answered, invalid, type Refusal } from '../refusal.ts';
import type { ChoiceApi } from './choices.ts';
import type { InboxApi } from './inbox.ts';

export interface WantedLink {
  /** A label of the person that it is for. */
  readonly for: string;
  readonly ttlS: number;
  readonly can: readonly LinkAnswer[];
}

/** What a person sees who opens a link. */
export interface ShownLink {
  readonly link: AnswerLink;
  readonly choice: ChoiceView;
  readonly operation: string;
  readonly toolServer: string | null;
}

/**
 * `unknown`: none of ours. `suspended`: (A4). `expired`, `changed` and `over`: it works no more; the question of one
 * that is `over` was answered, or waits no longer.
 */
export type LinkState<Open> =
  | { readonly state: 'unknown' | 'suspended' | 'expired' | 'changed' }
  | { readonly state: 'over'; readonly settled: { readonly decision?: string; readonly by?: string } | null }
  | { readonly state: 'open'; readonly value: Open };

export interface LinkGiven {
  readonly answer: LinkAnswer;
  readonly reason: string | null;
  /** Where the request came from. */
  readonly source: Pick<Requester, 'from' | 'requestId'>;
}

export interface AnswerLinkApi {
  /** 404 for what is not asked, 409 for what is settled, 422 for what is no approval. */
  make(tenant: TenantId, choiceId: string, wanted: WantedLink, origin: RequestOrigin): Promise<Answered<IssuedToken>>;
  /** The tenant of a link of ours that has not expired, whether it works or not; null for anything else. */
  tenantOf(token: string): Promise<TenantId | null>;
  /** (A1) @throws Fault */
  look(token: string): Promise<LinkState<ShownLink>>;
  /** `open` says that the answer was taken. 422 for an answer that the link does not allow. @throws Fault */
  answer(token: string, given: LinkGiven): Promise<Answered<LinkState<AnswerLink>>>;
}

export interface AnswerLinkPorts extends Pick<IngressParts, 'log' | 'snapshots' | 'mintName'> {
  readonly links: AnswerLinks;
  readonly records: Pick<TenantRecords, 'isActive'>;
  readonly inbox: Pick<InboxApi, 'threadOf'>;
  readonly choices: Pick<ChoiceApi, 'answer' | 'judge'>;
}

export function createAnswerLinkApi(ports: AnswerLinkPorts): AnswerLinkApi {
  const { links, choices, inbox, records, mintName } = ports;

  async function openLink(token: string): Promise<LinkState<AnswerLink>> {
    const link = await links.read(token);
    if (link === null) return { state: 'unknown' };
    if (link === 'expired') return { state: 'expired' };
    return (await records.isActive(link.tenant)) ? { state: 'open', value: link } : { state: 'suspended' }; // (A4)
  }

  return {
    async make(tenant, choiceId, { for: person, ttlS, can }, origin) {
      const thread = await inbox.threadOf(tenant, choiceId);
      if (!thread.ok) return thread;
      const key = { tenant, thread: thread.value };
      if (!choiceId.startsWith('chc_')) return noApproval;
      const found = await askedIn(ports, key, choiceId);
      if (found === null) return settledOf(await choices.judge(key, choiceId, denying(person)));
      if (found.choice.kind !== 'approval') return noApproval;
      const id = publicId('lnk', mintName(origin));
      const about = { ...key, id, choiceId, argumentsHash: shownHash(found.call.arguments), for: person, can };
      return answered({ id, ...(await links.sign(about, ttlS)) });
    },
    async tenantOf(token) {
      const link = await links.read(token);
      return link === null || link === 'expired' ? null : link.tenant;
    },
    async look(token) {
      const opened = await openLink(token);
      if (opened.state !== 'open') return opened;
      const link = opened.value;
      const found = await askedIn(ports, link, link.choiceId);
      if (found === null) return overOf(await choices.judge(link, link.choiceId, denying(link.for)));
      if (shownHash(found.call.arguments) !== link.argumentsHash) return { state: 'changed' }; // (A3)
      if (isUsed(found.choice, link)) return { state: 'over', settled: null }; // (A2)
      const { operation, toolServer } = found.call;
      return { state: 'open', value: { link, choice: found.view, operation, toolServer } };
    },
    async answer(token, { answer, reason, source }) {
      const opened = await openLink(token);
      if (opened.state !== 'open') return answered(opened);
      const link = opened.value;
      if (!link.can.includes(answer))
        return invalid([{ pointer: '/answer', detail: 'is not what this link may answer' }]);
      const { tenant, thread, choiceId, argumentsHash } = link;
      const by = { ...source, actor: actorOf(link) }; // (A5)
      const decided = { answer: 'decision', decision: answer } as const;
      const given = { answer: decided, reason, decidedBy: link.for, by, once: true, argumentsHash } as const;
      // Each answer is a request of its own, so that the thread tells the first from the next. (A2)
      const origin = { tenant, method: 'POST', path: `link ${link.id}`, idempotencyKey: null };
      const taken = await choices.answer({ tenant, thread }, choiceId, given, origin);
      if (taken.ok) return answered({ state: 'open', value: link });
      return endings.has(taken.refusal.code) ? answered(overOf(taken)) : taken;
    },
  };
}

/** Refusals that say that the link is over. */
const endings: ReadonlySet<string> = new Set(['CHOICE_SETTLED', 'CHOICE_CHANGED', 'APPROVAL_COUNTED', 'NOT_FOUND']);

interface AskedApproval {
  readonly choice: Choice;
  readonly call: Call;
  readonly view: ChoiceView;
}

/** The choice while it is open, as it is shown. */
async function askedIn(
  ports: Pick<AnswerLinkPorts, 'log' | 'snapshots'>,
  { tenant, thread: threadId }: ThreadKey,
  choiceId: string,
): Promise<AskedApproval | null> {
  const key = { tenant, thread: threadId };
  const { thread } = await loadThread(ports, key);
  const choice = own(thread.choices, choiceId);
  const call = choice === undefined ? undefined : callOf(thread, choice.toolCallId);
  if (choice === undefined || call === undefined) return null;
  const views = await openChoices(ports.log, key, thread);
  const view = views.find(({ id }) => id === choiceId);
  return view === undefined ? null : { choice, call, view };
}

/** Whether an approval of the link counts, or counted before the arguments were changed. */
const isUsed = ({ approvals = [], spent = [] }: Choice, link: AnswerLink): boolean =>
  [...spent, ...approvals.map(({ credential }) => credential)].includes(actorOf(link));

const actorOf = ({ id }: AnswerLink): string => `link:${id}`;

const noApproval = invalid([{ pointer: '', detail: 'is not about an approval: links answer approvals alone' }]);

/** Asked only for how the choice was settled; nothing is sent. */
const denying = (person: string): Parameters<ChoiceApi['judge']>[2] => ({
  ...{ answer: { answer: 'decision', decision: 'deny' }, reason: null, decidedBy: person },
  by: { actor: 'link', from: null, requestId: null },
});

/** The refusal; a choice that was settled between two reads is refused by its next request. */
const settledOf = (judged: Answered<unknown>): Answered<never> => (judged.ok ? noApproval : judged);

function overOf(judged: Answered<unknown>): LinkState<never> {
  if (judged.ok) return { state: 'over', settled: null };
  const { code, settled = null } = judged.refusal satisfies Refusal;
  return code === 'CHOICE_CHANGED' ? { state: 'changed' } : { state: 'over', settled };
}
