// What a model has said in full, as the input that its thread decides.
import type { ToolDefinition } from '@dormouse/ports';
import type { CompletionResult, RequestedCall } from '@dormouse/thread';
import { judgeCall, type ValidateArguments } from './call-arguments.ts';
import type { CompletionAnswer } from './completion-run.ts';
import type { PartialAnswer } from './partial-answer.ts';

export interface ResultRules {
  readonly validateArguments: ValidateArguments | null;
  readonly answerId: (completionId: string, kind: CompletionAnswer['kind']) => string;
}

/** `answer` has had its last part; `tools` are what the model was offered. */
export async function resultOf(
  rules: ResultRules,
  completionId: string,
  answer: PartialAnswer,
  tools: readonly ToolDefinition[],
): Promise<CompletionResult> {
  const judged = judgedCalls(rules, answer, tools).map(async (call) => (typeof call === 'function' ? call() : call));
  return resultWith(rules, completionId, answer, await Promise.all(judged));
}

/** The same without waiting; null where a call takes long to judge. */
export function resultAtHand(
  rules: ResultRules,
  completionId: string,
  answer: PartialAnswer,
  tools: readonly ToolDefinition[],
): CompletionResult | null {
  const judged = judgedCalls(rules, answer, tools);
  return judged.every((call) => typeof call !== 'function') ? resultWith(rules, completionId, answer, judged) : null;
}

const judgedCalls = (
  { validateArguments }: ResultRules,
  { calls }: PartialAnswer,
  tools: readonly ToolDefinition[],
): readonly ReturnType<typeof judgeCall>[] =>
  calls.map((call) =>
    judgeCall(
      call,
      tools.find((tool) => tool.name === call.operation),
      validateArguments,
    ),
  );

function resultWith(
  { answerId }: ResultRules,
  completionId: string,
  { finish, text, reasoning }: PartialAnswer,
  toolCalls: readonly RequestedCall[],
): CompletionResult {
  if (finish === null) throw new Error('a result without a finish');
  return {
    kind: 'CompletionResult',
    id: answerId(completionId, 'CompletionResult'),
    completionId,
    text,
    reasoning: reasoning || null,
    toolCalls,
    finishReason: finish.reason,
    usage: finish.usage,
  };
}
