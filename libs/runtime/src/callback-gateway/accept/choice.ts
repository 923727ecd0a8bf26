// A question with options for a person. The address of its answer is sealed. (callback-gateway C4)
import { answerOwner } from '@dormouse/ports';
import { inputIds } from '@dormouse/thread';
import { cleanText } from '../clean-text.ts';
import { namesOf, type Acceptance, type CallbackOf } from './acceptance.ts';

export function acceptChoice(message: Acceptance, choice: CallbackOf<'user_choice'>): Promise<void> {
  const { deps, settings, scope } = message;
  const { tenant, thread, toolCallId, toolServer } = scope;
  const { prompt, choices, responseUrl } = choice;
  const asked = JSON.stringify([prompt, choices, choice.default, responseUrl]);
  const { message: name, question } = namesOf(message, asked);
  const id = inputIds.userChoice(toolCallId, name);
  return message.publish(id, async () => ({
    kind: 'ChoicePrompt',
    id,
    toolCallId,
    toolServer,
    question,
    prompt: cleanText(prompt),
    choices: choices.map(cleanText),
    default: choice.default,
    answerTo: deps.sealer.seal(answerOwner(tenant, thread, toolCallId), responseUrl),
    expiresAt: deps.clock.now() + settings.choiceDeadlineMs,
  }));
}
