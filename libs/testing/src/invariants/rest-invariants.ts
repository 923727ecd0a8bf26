// After the faults everything comes to rest, and at rest nothing is owed. I-24
import { isOwed } from '@dormouse/thread';
import { type Reading, threadName } from './reading.ts';

/** I-24: the run came to rest; every acknowledged input is decided, every effect paid, nothing runs. */
export function comesToRest({ threads, history, byName }: Reading): readonly string[] {
  if (history.unrest === null) return [];
  const bad = history.unrest.map((why) => `never came to rest: ${why}`);
  for (const { name, end } of threads) {
    if (end === null || end.status === 'closed') continue;
    if (end.completion !== null) bad.push(`${name} waits for ${end.completion.completionId}`);
    if (end.loading !== null) bad.push(`${name} waits for its toolsets`);
  }
  const { handedOver } = history;
  if (handedOver === null) return bad;
  for (const { name, end, effects } of threads) {
    for (const effect of effects) {
      if (end === null || !isHandedOver(effect.do) || handedOver.has(effect.id) || !isOwed(end, effect)) continue;
      bad.push(`${name}: ${effect.do} ${effect.id} was never paid`);
    }
  }
  for (const { key, kind } of history.requests) {
    if (kind === 'opening' && !byName.has(threadName(key))) bad.push(`${threadName(key)} was never opened`);
  }
  return bad;
}

/** Effects that leave through the work bus. */
const isHandedOver = (name: string): boolean =>
  [
    'LoadToolsets',
    'InvokeTool',
    'WithdrawCall',
    'SendCancelNotices',
    'SendCloseNotices',
    'AnswerChoice',
    'MigrateToolServers',
  ].includes(name);
