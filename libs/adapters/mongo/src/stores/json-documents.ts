// Collections whose documents are one object as JSON each, in the field `document`, beside the fields that it is found
// by: names that users chose never become names of fields.
import { type Page, pageOf, type PageRequest, textBefore } from '@dormouse/ports';
import type { Model, QueryFilter, SortOrder } from 'mongoose';
import { type MongoServer, removed, updated } from '../mongo-server.ts';

export interface JsonDocument {
  readonly _id: string;
  readonly document: string;
}

export interface JsonDocuments<Item, Document extends JsonDocument> {
  one(filter: QueryFilter<Document>): Promise<Item | null>;
  /** Without a limit, all. */
  all(filter: QueryFilter<Document>, sort: Readonly<Record<string, SortOrder>>, limit?: number): Promise<Item[]>;
  /** A page in the order of a text that no two of them share. */
  page(by: string & keyof Document, filter: QueryFilter<Document>, page: PageRequest): Promise<Page<Item>>;
  /** Only if what was read is still there; `beside` are the fields beside the object that changed with it. */
  replace(_id: string, item: Item, seen: Item, beside?: Partial<Document>): Promise<boolean>;
  remove(filter: QueryFilter<Document>): Promise<boolean>;
}

export function jsonDocuments<Item, Document extends JsonDocument>(
  server: MongoServer,
  model: Model<Document>,
): JsonDocuments<Item, Document> {
  const find = (filter: object, sort: Readonly<Record<string, SortOrder>>, limit = 0): Promise<JsonDocument[]> =>
    server.read(() => model.find(filter).sort(sort).limit(limit).lean<Document[]>());
  return {
    one: async (filter) => {
      const found = await server.read(() => model.findOne(filter).lean<Document>());
      return found && parsed(found);
    },
    all: async (filter, sort, limit) => (await find(filter, sort, limit)).map(parsed<Item>),
    page: async (by, filter, page) => {
      const after = textBefore(page);
      const behind = after === null ? filter : { ...filter, [by]: { $gt: after } };
      const found = await find(behind, { [by]: 1 }, page.limit + 1);
      const { data, nextCursor } = pageOf(found as Document[], page, (document) => [document[by] as string]);
      return { data: data.map(parsed<Item>), nextCursor };
    },
    // The text of an object that was read is the text that is stored.
    replace: (_id, item, seen, beside = {}) =>
      updated(server, model, { _id, document: JSON.stringify(seen) } as QueryFilter<Document>, {
        $set: { ...beside, document: JSON.stringify(item) },
      }),
    remove: (filter) => removed(server, model, filter),
  };
}

/** This adapter has written it itself. */
export const parsed = <Item>({ document }: JsonDocument): Item => JSON.parse(document) as Item;
