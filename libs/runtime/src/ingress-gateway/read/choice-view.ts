// An open choice as people see it: question, possible answers, and the exact arguments the answer is bound to.
import { canonicalJson } from '@dormouse/json';
import type { ThreadKey, ThreadLog } from '@dormouse/ports';
import type { RecordedEvent, Thread } from '@dormouse/thread';
import { hash } from 'node:crypto';
import { placedEvents } from './log-scan.ts';

type ChoiceRequested = Extract<RecordedEvent, { readonly type: 'ChoiceRequested' }>;

export interface ChoiceView {
  readonly id: string;
  readonly kind: 'tool' | 'approval';
  readonly toolCallId: string;
  readonly prompt: string;
  readonly choices: readonly string[];
  readonly default: number;
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** SHA-256 of the canonical JSON (RFC 8785) of `arguments`: an answer may name it. */
  readonly argumentsHash?: string;
  /** Characters in the arguments that can deceive a reader. */
  readonly warnings?: readonly string[];
  readonly expiresAt: number;
  /** Set for a question of a thread below the one that is shown. */
  readonly threadId?: string;
}

export function choiceView(event: ChoiceRequested): ChoiceView {
  const { choiceId, kind, toolCallId, prompt, choices, warnings, expiresAt } = event;
  return {
    id: choiceId,
    kind,
    toolCallId,
    prompt,
    choices,
    default: event.default,
    ...(event.arguments === undefined ? {} : { arguments: event.arguments, argumentsHash: shownHash(event.arguments) }),
    ...(warnings === undefined ? {} : { warnings }),
    expiresAt,
  };
}

/** What an answer is bound to. */
export const shownHash = (given: Readonly<Record<string, unknown>>): string => hash('sha256', canonicalJson(given));

/** The choices of a thread that wait for an answer, oldest first. */
export const openChoices = (log: ThreadLog, key: ThreadKey, thread: Thread): Promise<readonly ChoiceView[]> =>
  choiceViews(
    log,
    key,
    Object.values(thread.choices).toSorted((a, b) => a.position - b.position),
  );

export async function choiceViews(
  log: ThreadLog,
  key: ThreadKey,
  choices: readonly { readonly choiceId: string; readonly position: number }[],
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
    views.push(choiceView(event));
  }
  return views;
}
