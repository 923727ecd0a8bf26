// A callback of a trial: it goes to the process that waits for it, and to no thread. (trial R1)
import { isErrorResult, opensSubscription, resultContent, type Callback } from '@dormouse/protocol';
import { keepTrialAnswer, type TrialAnswer } from '../../ingress-gateway/registry/trial.ts';
import { cleanText } from '../clean-text.ts';
import { cleaningResult } from '../result-content.ts';
import { taking, type Acceptance } from './acceptance.ts';

export async function acceptTrial(message: Acceptance, callback: Callback): Promise<void> {
  const answer = await answerOf(message, callback);
  if (answer !== null) await keepTrialAnswer(message.deps, message.scope, answer);
}

async function answerOf(message: Acceptance, callback: Callback): Promise<TrialAnswer | null> {
  switch (callback.type) {
    case 'tool_result': {
      const { items, segments } = await taking(
        message.request,
        cleaningResult(resultContent(callback), callback.displayAs),
      );
      const about = { content: [...items], subscription: callback.subscription };
      const outcome = isErrorResult(about) ? 'error' : opensSubscription(about) ? 'subscription' : 'result';
      return { outcome, content: items, ...(segments === null ? {} : { displayAs: segments }) };
    }
    case 'user_choice':
      return {
        ...{ outcome: 'choice', content: [], prompt: cleanText(callback.prompt) },
        choices: callback.choices.map(cleanText),
      };
    case 'oauth':
      return { outcome: 'oauth', content: [] };
    case 'subscription_event':
    case 'view_update':
      return null; // nothing of a trial shows them
  }
}
