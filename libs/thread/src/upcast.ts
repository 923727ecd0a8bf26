// Converts inputs that an earlier release published into today's shape: while releases run beside each other, records
// of both are on the bus. A shape stays here for as long as records are kept (14 days), and one release longer.
import type { Answer, ChoiceAnswer, ThreadInput } from './input.ts';

/** Until 0.1 an approval was answered with `decision`, without `answer`. */
type EarlierChoiceAnswer = Omit<ChoiceAnswer, 'answer'> & {
  readonly decision: Extract<Answer, { readonly answer: 'decision' }>['decision'];
};

export function upcastInput(input: ThreadInput): ThreadInput {
  if (input.kind !== 'ChoiceAnswer' || !isEarlier(input)) return input;
  const { decision, ...rest } = input;
  return { ...rest, answer: { answer: 'decision', decision } };
}

const isEarlier = (input: ChoiceAnswer | EarlierChoiceAnswer): input is EarlierChoiceAnswer => 'decision' in input;
