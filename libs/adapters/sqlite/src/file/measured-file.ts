// Times reads and writes of the database file: a read while it runs, a write until it is on disk.
import type { Metrics } from '@dormouse/ports';
import type { GroupWriter } from '../writer/group-writer.ts';
import type { Reader } from './database.ts';

export function measuredReader(reader: Reader, metrics: Metrics): Reader {
  const reads = metrics.histogram('dormouse_store_duration_seconds', 'sqlite', 'read');
  const timed = <Answer>(read: () => Answer): Answer => {
    const from = performance.now();
    const answer = read();
    reads.record((performance.now() - from) / 1_000);
    return answer;
  };
  return {
    all: (sql, ...parameters) => timed(() => reader.all(sql, ...parameters)),
    one: (sql, ...parameters) => timed(() => reader.one(sql, ...parameters)),
    close: () => reader.close(),
  };
}

export function measuredWriter(writer: GroupWriter, metrics: Metrics): GroupWriter {
  const appends = metrics.histogram('dormouse_store_duration_seconds', 'sqlite', 'append');
  const writes = metrics.histogram('dormouse_store_duration_seconds', 'sqlite', 'write');
  const timed = async <Answer>(work: Promise<Answer>, times = writes): Promise<Answer> => {
    const from = performance.now();
    const answer = await work;
    times.record((performance.now() - from) / 1_000);
    return answer;
  };
  return {
    append: (group, answered) => timed(writer.append(group, answered), appends),
    run: (sql, ...parameters) => timed(writer.run(sql, ...parameters)),
    changes: (sql, ...parameters) => timed(writer.changes(sql, ...parameters)),
    rows: (urgency, sql, rows) => timed(writer.rows(urgency, sql, rows)),
    steps: (urgency, steps) => timed(writer.steps(urgency, steps)),
    ask: (urgency, sql, parameters, before) => timed(writer.ask(urgency, sql, parameters, before)),
    limitPages: (pagesMax) => writer.limitPages(pagesMax),
    scrub: (rebuilds) => timed(writer.scrub(rebuilds)),
    eraseThreads: (tenant, threads) => timed(writer.eraseThreads(tenant, threads)),
    counters: () => writer.counters(),
    close: () => writer.close(),
  };
}
