// The tools that the runtime itself offers to a model, beside its toolsets. The order is what a model is shown.
import type { Draft } from '../draft.ts';
import { threadLimits } from '../policy.ts';
import { settle } from '../rules/call.ts';
import type { Call, Thread } from '../thread.ts';
import { type AfterAnswer, type BuiltInTool, fail } from './built-in-tool.ts';
import { cancelSubscription } from './cancel-subscription.ts';
import { closeThread } from './close-thread.ts';
import { reportToParent } from './report-to-parent.ts';
import { sendMessageToChild } from './send-message-to-child.ts';
import { setTitle } from './set-title.ts';
import { sleep } from './sleep.ts';
import { sleepUntil } from './sleep-until.ts';
import { spawnThread } from './spawn-thread.ts';

const builtInTools: readonly BuiltInTool[] = [
  cancelSubscription,
  spawnThread,
  sendMessageToChild,
  reportToParent,
  closeThread,
  setTitle,
  sleep,
  sleepUntil,
];
const byName = new Map(builtInTools.map((tool) => [tool.name, tool]));
const forRoots = builtInTools.filter(({ childrenOnly }) => !childrenOnly);

/** What this thread may call; the same list in the same order for its whole life. */
export const offeredBuiltIns = (thread: Pick<Thread, 'parent'>): readonly BuiltInTool[] =>
  thread.parent === null ? forRoots : builtInTools;

export const isBuiltIn = (operation: string): boolean => byName.has(operation);

/** Runs one call of ours; its result is in the same commit. */
export function runBuiltIn(draft: Draft, call: Call): AfterAnswer | null {
  const tool = byName.get(call.operation);
  if (tool === undefined || !offeredBuiltIns(draft.thread).includes(tool)) {
    settle(draft, call, 'error', 'TOOL_UNKNOWN', `"${call.operation}" is offered to child threads only`);
    return null;
  }
  const texts = Object.values(call.arguments).filter((value) => typeof value === 'string');
  if (texts.some((value) => value.length > threadLimits.familyCharactersMax))
    return fail(draft, call, `at most ${threadLimits.familyCharactersMax} characters`);
  return tool.run(draft, call);
}
