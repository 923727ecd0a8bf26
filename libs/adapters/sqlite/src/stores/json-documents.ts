// Rows that are one object as JSON each, in the column `document`, beside the columns that they are found by.
import { type Page, pageOf, type PageRequest, textBefore } from '@dormouse/ports';
import type { SQLInputValue } from 'node:sqlite';
import type { Reader } from '../file/database.ts';

interface DocumentRow {
  readonly document: string;
}

/** Null where there is no row. */
export function documentOf<Item>(reader: Reader, sql: string, ...parameters: SQLInputValue[]): Item | null {
  const row = reader.one<DocumentRow>(sql, ...parameters);
  return row && parsed(row);
}

export const documentsOf = <Item>(reader: Reader, sql: string, ...parameters: SQLInputValue[]): Item[] =>
  reader.all<DocumentRow>(sql, ...parameters).map(parsed<Item>);

/** A page in the order of a text: `sql` takes the parameters, the text behind which the page begins, and a limit. */
export function pageOfDocuments<Item>(
  reader: Reader,
  page: PageRequest,
  textOf: (item: Item) => string,
  sql: string,
  ...parameters: SQLInputValue[]
): Page<Item> {
  const found = documentsOf<Item>(reader, sql, ...parameters, textBefore(page) ?? '', page.limit + 1);
  return pageOf(found, page, (item) => [textOf(item)]);
}

export const nameOf = ({ name }: { readonly name: string }): string => name;
export const idOf = ({ id }: { readonly id: string }): string => id;

/** This adapter has written it itself. */
const parsed = <Item>({ document }: DocumentRow): Item => JSON.parse(document) as Item;
