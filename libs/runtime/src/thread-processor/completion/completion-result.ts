// What a model has said in full, as the input that its thread decides.
import type { ToolDefinition } from '@dormouse/ports';
import type { CompletionResult, RequestedCall } from '@dormouse/thread';
import { judgeCall, type ValidateArguments } from './call-arguments.ts';
import type { CompletionAnswer } from './completion-run.ts';
import type { PartialAnswer, RawCall } from './partial-answer.ts';

export interface ResultRules {
  readonly validateArguments: ValidateArguments | null;
  readonly answerId: (completionId: string, kind: CompletionAnswer['kind']) => string;
}

/** `answer` has had its last part; `tools` are what the model was offered. A promise where the judgement of a call is one. */
export function resultOf(
  rules: ResultRules,
  completionId: string,
  answer: PartialAnswer,
  tools: readonly ToolDefinition[],
): CompletionResult | Promise<CompletionResult> {
  const { finish, text, reasoning, calls } = answer;
  if (finish === null) throw new Error('a result without a finish');
  const judge = (call: RawCall): RequestedCall | Promise<RequestedCall> =>
    judgeCall(
      call,
      tools.find((tool) => tool.name === call.operation),
      rules.validateArguments,
    );
  const result = (toolCalls: readonly RequestedCall[]): CompletionResult => ({
    kind: 'CompletionResult',
    id: rules.answerId(completionId, 'CompletionResult'),
    completionId,
    text,
    reasoning: reasoning || null,
    toolCalls,
    finishReason: finish.reason,
    usage: finish.usage,
  });
  const judged = calls.map(judge);
  return judged.every(isAtHand) ? result(judged) : Promise.all(judged.map(async (call) => call)).then(result);
}

const isAtHand = (call: RequestedCall | Promise<RequestedCall>): call is RequestedCall => !(call instanceof Promise);
