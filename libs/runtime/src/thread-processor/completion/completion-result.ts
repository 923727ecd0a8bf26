// A model's complete answer, as the input that its thread decides.
import type { ToolDefinition } from '@dormouse/ports';
import type { CompletionResult } from '@dormouse/thread';
import { judgeCall, type ValidateArguments } from './call-arguments.ts';
import type { CompletionAnswer } from './completion-run.ts';
import type { PartialAnswer } from './partial-answer.ts';

export interface ResultRules {
  readonly validateArguments: ValidateArguments | null;
  readonly answerId: (completionId: string, kind: CompletionAnswer['kind']) => string;
}

/** `answer` has had its last part; `tools` are what the model was offered. */
export async function resultOf(
  { answerId, validateArguments }: ResultRules,
  completionId: string,
  { calls, finish, text, reasoning }: PartialAnswer,
  tools: readonly ToolDefinition[],
): Promise<CompletionResult> {
  if (finish === null) throw new Error('a result without a finish');
  const offered = (operation: string): ToolDefinition | undefined => tools.find(({ name }) => name === operation);
  const judged = calls.map((call) => judgeCall(call, offered(call.operation), validateArguments));
  return {
    kind: 'CompletionResult',
    id: answerId(completionId, 'CompletionResult'),
    completionId,
    text,
    reasoning: reasoning || null,
    toolCalls: await Promise.all(judged),
    finishReason: finish.reason,
    usage: finish.usage,
  };
}
