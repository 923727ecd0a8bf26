// The rare paths of the four steps, told as they are taken: what no ordinary day shows, and what a run that is to prove
// something must have seen (guarantees §2). Changes nothing of what is decided.
import type { Logger } from '@dormouse/ports';
import type { ProcessorProtocol } from './protocol.ts';
import type { InputItem } from './slice/slice-item.ts';
import type { Debt } from './thread-state.ts';

export function tellRarePaths(protocol: ProcessorProtocol, logger: Logger): ProcessorProtocol {
  return {
    ...protocol,
    wasAppended: (ours, stored) => {
      const stands = protocol.wasAppended(ours, stored);
      const { tenant, thread, version } = ours;
      logger.info('commit_read_back', { tenant, thread, version, stands });
      return stands;
    },
    finishedByConflict: (items) => {
      logger.info('commit_conflict', { inputs: idsOf(items) });
      return protocol.finishedByConflict(items);
    },
    finishedByDuplicate: (found, items) => {
      logger.info('commit_duplicate', { inputs: idsOf(found) });
      return protocol.finishedByDuplicate(found, items);
    },
    learnedDebts: (debts) => {
      const paid = protocol.learnedDebts(debts);
      if (paid.length > 0) logger.info('foreign_commits_paid', { versions: versionsOf(paid) });
      return paid;
    },
    repaidDebts: (debts, repayment) => {
      const paid = protocol.repaidDebts(debts, repayment);
      if (paid.length > 0) logger.info('redelivery_repaid', { versions: versionsOf(paid) });
      return paid;
    },
  };
}

const idsOf = (items: readonly InputItem[]): string => items.map(({ input }) => input.id).join(' ');
const versionsOf = (debts: readonly Debt[]): string => debts.map(({ version }) => version).join(' ');
