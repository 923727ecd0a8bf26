// Counts what each commit says, at the place where the processor publishes it.
import type { LiveFeed, Metrics } from '@dormouse/ports';
import { shownTool } from '../tracing/attributes.ts';
import { type CommitFacts, readCommit } from './commit-facts.ts';
import type { AskedModels } from './measured-model.ts';

export function measuredFeed(feed: LiveFeed, metrics: Metrics, asked: AskedModels): LiveFeed {
  const turnTimes = metrics.histogram('dormouse_turn_duration_seconds');
  const modelRetries = metrics.counter('dormouse_retries_total', 'model');
  const facts: CommitFacts = {
    turnEnded: (outcome, tookMs) => {
      metrics.counter('dormouse_turns_total', outcome).add(1);
      turnTimes.record(tookMs / 1_000);
    },
    completionEnded: (completionId, model, outcome) => {
      const by = asked.get(completionId);
      asked.drop(completionId);
      metrics.counter('dormouse_completions_total', by?.provider ?? 'unknown', by?.name ?? model, outcome).add(1);
    },
    callSettled: (toolServer, operation, outcome, tookMs) => {
      metrics.counter('dormouse_tool_calls_total', toolServer ?? 'runtime', outcome).add(1);
      const failure = outcome === 'result' ? '' : outcome;
      const tool = shownTool({ operation, toolServer });
      metrics.histogram('gen_ai.execute_tool.duration', tool, failure).record(tookMs / 1_000);
      if (toolServer !== null) metrics.histogram('dormouse_tool_wait_seconds', toolServer).record(tookMs / 1_000);
    },
    refused: (code) => metrics.counter('dormouse_refusals_total', code).add(1),
  };
  return {
    ...feed,
    publish: (key, hint) => {
      if (hint.hint === 'committed' && hint.after !== undefined) readCommit(hint.after, hint.commit.at, facts);
      else if (hint.hint === 'retrying') modelRetries.add(1);
      feed.publish(key, hint);
    },
  };
}
