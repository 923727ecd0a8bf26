import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { schemaSteps } from '../../file/schema.ts';
import { numberedTables } from '../../writer/erase-threads.ts';
import { copyTables, otherThreadTables, recordTables } from './thread-tables.ts';
import { tenantTables } from './tenant-eraser.ts';

const registryTable = 'tenants';

it('X2 an erasure knows every table that has rows of a tenant, a removal every one that has rows of a thread', () => {
  const database = new DatabaseSync(':memory:');
  for (const step of schemaSteps) database.exec(step);
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const names = tables.map(({ name }) => String(name)).filter((name) => !name.startsWith('sqlite_'));
  const columnsOf = (table: string): readonly unknown[] =>
    database
      .prepare(`SELECT name FROM pragma_table_info('${table}')`)
      .all()
      .map(({ name }) => name);
  const having = (column: string): readonly string[] => names.filter((table) => columnsOf(table).includes(column));
  expect([...tenantTables, 'thread_numbers'].toSorted()).toEqual(having('tenant').toSorted());
  expect([...numberedTables, 'thread_numbers', 'attempts'].toSorted()).toEqual(having('number').toSorted());
  expect([...copyTables, ...recordTables, ...otherThreadTables].toSorted()).toEqual(having('thread').toSorted());
  const ownerless = names.filter((table) => !having('tenant').includes(table) && !having('number').includes(table));
  expect(ownerless.toSorted()).toEqual(['thread_counts', registryTable].toSorted());
  database.close();
});
