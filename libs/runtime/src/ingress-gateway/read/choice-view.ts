// An open choice as people see it: question, possible answers, and the exact arguments the answer is bound to.
import { canonicalJson } from '@dormouse/json';
import type { ThreadKey, ThreadLog } from '@dormouse/ports';
import { invisibleCharacters, type QuestionProgress, type RecordedEvent, stateOf, type Thread } from '@dormouse/thread';
import { hash } from 'node:crypto';
import { placedEvents } from './log-scan.ts';

type ChoiceRequested = Extract<RecordedEvent, { readonly type: 'ChoiceRequested' }>;

type AskedFields = 'kind' | 'toolCallId' | 'prompt' | 'choices' | 'default' | 'expiresAt' | 'assignees' | 'warnings';

export interface ChoiceView extends Pick<ChoiceRequested, AskedFields | 'arguments'> {
  readonly id: string;
  /** SHA-256 of the canonical JSON (RFC 8785) of `arguments`: an answer may name it. */
  readonly argumentsHash?: string;
  /** Where several must allow the call: how many, and labels of those whose approval counts. */
  readonly approvalsNeeded?: number;
  readonly approvedBy?: readonly string[];
  /** The arguments are not those of the model any more. */
  readonly edited?: true;
  /** Set for a question of a thread below the one that is shown. */
  readonly threadId?: string;
}

/** What is known of a choice besides the event that asks: as in `AskedQuestion`. */
export interface AskedState {
  readonly assignees?: readonly string[] | undefined;
  readonly progress?: QuestionProgress | undefined;
}

/** `edited`: the arguments that it is about, where a person has changed them. */
function choiceView(
  event: ChoiceRequested,
  { assignees, progress }: AskedState,
  edited: Readonly<Record<string, unknown>> | undefined,
): ChoiceView {
  const { choiceId, kind, toolCallId, prompt, choices, warnings, expiresAt } = event;
  const given = edited ?? event.arguments;
  const { needed = 1, approvedBy = [] } = progress ?? {};
  return {
    id: choiceId,
    kind,
    toolCallId,
    prompt,
    choices,
    default: event.default,
    ...(given === undefined ? {} : { arguments: given, argumentsHash: shownHash(given) }),
    ...(edited !== undefined ? { edited: true, ...warningsOf(edited) } : warnings === undefined ? {} : { warnings }),
    expiresAt,
    ...(assignees === undefined ? {} : { assignees }),
    ...(needed === 1 ? {} : { approvalsNeeded: needed, approvedBy }),
  };
}

function warningsOf(given: Readonly<Record<string, unknown>>): Pick<ChoiceView, 'warnings'> {
  const warnings = invisibleCharacters(given);
  return warnings.length === 0 ? {} : { warnings };
}

/** What an answer is bound to. */
export const shownHash = (given: Readonly<Record<string, unknown>>): string => hash('sha256', canonicalJson(given));

/** The choices of a thread that wait for an answer, oldest first: those that were asked or changed after a position. */
export function openChoices(log: ThreadLog, key: ThreadKey, thread: Thread, after = 0): Promise<readonly ChoiceView[]> {
  const open = Object.values(thread.choices).filter(({ position, changedAt = position }) => changedAt > after);
  const asked = open.toSorted((a, b) => a.position - b.position).map((each) => ({ ...each, ...stateOf(each) }));
  return choiceViews(log, key, asked);
}

export async function choiceViews(
  log: ThreadLog,
  key: ThreadKey,
  choices: readonly (AskedState & { readonly choiceId: string; readonly position: number })[],
): Promise<readonly ChoiceView[]> {
  const views: ChoiceView[] = [];
  for (const choice of choices) {
    const commit = await log.at(key, choice.position);
    const asked = commit === null ? [] : placedEvents(commit);
    const event = asked.find(
      (placed) => placed.event.type === 'ChoiceRequested' && placed.event.choiceId === choice.choiceId,
    )?.event;
    if (event?.type !== 'ChoiceRequested')
      throw new Error(`thread ${key.thread}: no event asks for choice ${choice.choiceId}`);
    views.push(choiceView(event, choice, await editedArguments(log, key, choice)));
  }
  return views;
}

async function editedArguments(
  log: ThreadLog,
  key: ThreadKey,
  { choiceId, progress }: AskedState & { readonly choiceId: string },
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const position = progress?.editedAt ?? null;
  if (position === null) return undefined;
  const commit = await log.at(key, position);
  const placed = commit === null ? [] : placedEvents(commit).filter((each) => each.position === position);
  const event = placed[0]?.event;
  if (event?.type !== 'ApprovalCounted' || event.argumentsAllowed === undefined)
    throw new Error(`thread ${key.thread}: no event has the arguments of choice ${choiceId}`);
  return event.argumentsAllowed;
}
