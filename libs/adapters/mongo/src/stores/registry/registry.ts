// What operators configure, one collection for each kind, the object itself as JSON in `document`: names that users
// chose never become names of fields. Port: ports/registry/registry.ts.
import type {
  Agent,
  Agents,
  Page,
  PageRequest,
  SealedSecret,
  Secrets,
  StoredToolset,
  ToolServer,
  ToolServers,
  Toolsets,
  TenantId,
} from '@dormouse/ports';
import { decodeCursor, encodeCursor, invalidCursor } from '@dormouse/ports';
import { type Model, type QueryFilter, Schema } from 'mongoose';
import { everySchema, number, text } from '../../document-shape.ts';
import { idOf } from '../../id-of.ts';
import { inserted, isDuplicate, type MongoServer } from '../../mongo-server.ts';

export interface Stored {
  readonly _id: string;
  readonly tenant: TenantId;
  readonly name: string;
  /** The id that may be used instead of the name. */
  readonly alias: string;
  readonly version: number;
  readonly document: string;
}

const schemaOf = (collection: string): Schema<Stored> =>
  new Schema<Stored>(
    { _id: text, tenant: text, name: text, alias: text, version: number, document: text },
    { ...everySchema, collection },
  );

const agentSchema = schemaOf('agents')
  .index({ tenant: 1, name: 1, version: -1 }, { name: 'by_name' })
  .index({ tenant: 1, alias: 1, version: -1 }, { name: 'by_alias' });
type PausedAgent = Pick<Stored, '_id' | 'tenant' | 'name'>;
const pausedAgentSchema = new Schema<PausedAgent>(
  { _id: text, tenant: text, name: text },
  { ...everySchema, collection: 'paused_agents' },
).index({ tenant: 1, name: 1 }, { name: 'by_name' });
const toolServerSchema = schemaOf('tool_servers')
  .index({ tenant: 1, name: 1 }, { name: 'by_name' })
  .index({ tenant: 1, alias: 1 }, { name: 'alias_once', unique: true });
const secretSchema = schemaOf('secrets').index({ tenant: 1, name: 1 }, { name: 'by_name' });

type ToolsetDocument = Pick<StoredToolset, 'manifest'> & { readonly _id: string };
const toolsetSchema = new Schema<ToolsetDocument>(
  { _id: text, manifest: text },
  { ...everySchema, collection: 'toolsets' },
);
type LastGoodDocument = Pick<StoredToolset, 'sha256'> & { readonly _id: string };
const lastGoodSchema = new Schema<LastGoodDocument>(
  { _id: text, sha256: text },
  { ...everySchema, collection: 'toolsets_last_good' },
);

export function createAgents(server: MongoServer): Agents {
  const agents = server.connection.model<Stored>('Agent', agentSchema);
  const pausedAgents = server.connection.model<PausedAgent>('PausedAgent', pausedAgentSchema);
  async function setPaused(tenant: TenantId, name: string, isPaused: boolean): Promise<void> {
    const _id = idOf(tenant, name);
    if (isPaused) await server.write(() => pausedAgents.replaceOne({ _id }, { _id, tenant, name }, { upsert: true }));
    else await server.write(() => pausedAgents.deleteOne({ _id }));
  }
  const newest = async (filter: QueryFilter<Stored>): Promise<Agent | null> => {
    const [found] = await server.read(() => agents.find(filter).sort({ version: -1 }).limit(1).lean());
    return found === undefined ? null : parsed<Agent>(found);
  };
  return {
    insert: (agent) => {
      const { tenant, name, version, id } = agent;
      return inserted(server, agents, {
        _id: idOf(tenant, name, version),
        ...{ tenant, name, version, alias: id },
        document: JSON.stringify(agent),
      });
    },
    latest: (tenant, nameOrId) => newest(called(tenant, nameOrId)),
    version: (tenant, nameOrId, version) => newest({ ...called(tenant, nameOrId), version }),
    list: async (tenant, page) => {
      const after = nameAfter(page);
      const groups = await server.read(() =>
        agents
          .aggregate<{ readonly _id: string; readonly version: number }>([
            { $match: { tenant, name: { $gt: after } } },
            { $group: { _id: '$name', version: { $max: '$version' } } },
            { $sort: { _id: 1 } },
            { $limit: page.limit + 1 },
          ])
          .exec(),
      );
      const ids = groups.map((group) => idOf(tenant, group._id, group.version));
      const found = await server.read(() =>
        agents
          .find({ _id: { $in: ids } })
          .sort({ name: 1 })
          .lean(),
      );
      return pageOf(found.map(parsed<Agent>), page);
    },
    remove: async (tenant, name) => {
      const { deletedCount } = await server.write(() => agents.deleteMany({ tenant, name }));
      await setPaused(tenant, name, false);
      return deletedCount > 0;
    },
    setPaused,
    paused: async (tenant) => {
      const found = await server.read(() => pausedAgents.find({ tenant }).sort({ name: 1 }).lean());
      return found.map(({ name }) => name);
    },
  };
}

export function createToolServers(server: MongoServer): ToolServers {
  const servers = server.connection.model<Stored>('ToolServer', toolServerSchema);
  const stored = (tool: ToolServer): Stored => {
    const { tenant, name, id } = tool;
    return { _id: idOf(tenant, name), tenant, name, alias: id, version: 1, document: JSON.stringify(tool) };
  };
  return {
    insert: (tool) => inserted(server, servers, stored(tool)),
    get: async (tenant, nameOrId) => {
      const found = await server.read(() => servers.findOne(called(tenant, nameOrId)).lean());
      return found && parsed<ToolServer>(found);
    },
    list: async (tenant, page) => {
      const found = await server.read(() =>
        servers
          .find({ tenant, name: { $gt: nameAfter(page) } })
          .sort({ name: 1 })
          .limit(page.limit + 1)
          .lean(),
      );
      return pageOf(found.map(parsed<ToolServer>), page);
    },
    // The text of an object that was read is the text that is stored.
    replace: async (tool, seen) => {
      const { _id, document } = stored(tool);
      const filter = { _id, document: JSON.stringify(seen) };
      const { matchedCount } = await server.write(() => servers.updateOne(filter, { $set: { document } }));
      return matchedCount === 1;
    },
    remove: async (tenant, name) => {
      const { deletedCount } = await server.write(() => servers.deleteOne({ _id: idOf(tenant, name) }));
      return deletedCount === 1;
    },
  };
}

export function createToolsets(server: MongoServer): Toolsets {
  const toolsets = server.connection.model<ToolsetDocument>('Toolset', toolsetSchema);
  const lastGood = server.connection.model<LastGoodDocument>('LastGoodToolset', lastGoodSchema);
  return {
    put: async ({ tenant, sha256, manifest }) => {
      await inserted(server, toolsets, { _id: idOf(tenant, sha256), manifest });
    },
    get: async (tenant, sha256) => {
      const found = await server.read(() => toolsets.findOne({ _id: idOf(tenant, sha256) }).lean());
      return found && { tenant, sha256, manifest: found.manifest };
    },
    putLastGood: (tenant, baseUrl, sha256) => put(server, lastGood, idOf(tenant, baseUrl), { sha256 }),
    lastGood: async (tenant, baseUrl) => {
      const found = await server.read(() => lastGood.findOne({ _id: idOf(tenant, baseUrl) }).lean());
      return found?.sha256 ?? null;
    },
  };
}

export function createSecrets(server: MongoServer): Secrets {
  const secrets = server.connection.model<Stored>('Secret', secretSchema);
  return {
    put: (secret) => {
      const { tenant, name } = secret;
      const fields = { tenant, name, alias: name, version: 1, document: JSON.stringify(secret) };
      return put(server, secrets, idOf(tenant, name), fields);
    },
    get: async (tenant, name) => {
      const found = await server.read(() => secrets.findOne({ _id: idOf(tenant, name) }).lean());
      return found && parsed<SealedSecret>(found);
    },
    list: async (tenant) => {
      const found = await server.read(() => secrets.find({ tenant }).sort({ name: 1 }).lean());
      return found.map(parsed<SealedSecret>);
    },
    replace: async (secret, seen) => {
      const filter = { _id: idOf(secret.tenant, secret.name), document: JSON.stringify(seen) };
      const document = JSON.stringify(secret);
      return (await server.write(() => secrets.updateOne(filter, { $set: { document } }))).matchedCount === 1;
    },
    remove: async (tenant, name) => {
      const { deletedCount } = await server.write(() => secrets.deleteOne({ _id: idOf(tenant, name) }));
      return deletedCount === 1;
    },
  };
}

/** Replaces or inserts. */
async function put<Document extends { readonly _id: string }>(
  server: MongoServer,
  into: Model<Document>,
  id: string,
  fields: Partial<Document>,
): Promise<void> {
  const filter = { _id: id };
  const update = { $set: fields };
  try {
    await server.write(() => into.updateOne(filter, update, { upsert: true }));
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    await server.write(() => into.updateOne(filter, update)); // inserted by another process meanwhile
  }
}

const called = (tenant: TenantId, nameOrId: string) => ({ tenant, $or: [{ name: nameOrId }, { alias: nameOrId }] });

/** A document this adapter has written itself. */
export const parsed = <Item>({ document }: Stored): Item => JSON.parse(document) as Item;

export function nameAfter({ cursor }: PageRequest): string {
  if (cursor === null) return '';
  const [name] = decodeCursor(cursor);
  if (typeof name !== 'string') throw invalidCursor();
  return name;
}

export function pageOf<Item extends { readonly name: string }>(
  found: readonly Item[],
  { limit }: PageRequest,
): Page<Item> {
  const data = found.slice(0, limit);
  const last = data.at(-1);
  return { data, nextCursor: found.length > limit && last ? encodeCursor([last.name]) : null };
}
