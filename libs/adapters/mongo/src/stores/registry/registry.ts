// What operators configure, one collection for each kind. Port: ports/registry/registry.ts.
import {
  type Agent,
  type Agents,
  pageOf,
  type SealedSecret,
  type Secrets,
  type StoredToolset,
  type TenantId,
  textBefore,
  type ToolServer,
  type ToolServers,
  type Toolsets,
} from '@dormouse/ports';
import { type QueryFilter, Schema } from 'mongoose';
import { everySchema, number, text } from '../../document-shape.ts';
import { idOf } from '../../id-of.ts';
import { inserted, type MongoServer, upserted } from '../../mongo-server.ts';
import { type JsonDocument, jsonDocuments } from '../json-documents.ts';

export interface Stored extends JsonDocument {
  readonly tenant: TenantId;
  readonly name: string;
  /** The id that may be used instead of the name. */
  readonly alias: string;
  readonly version: number;
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
  const documents = jsonDocuments<Agent, Stored>(server, agents);
  const pausedAgents = server.connection.model<PausedAgent>('PausedAgent', pausedAgentSchema);
  async function setPaused(tenant: TenantId, name: string, isPaused: boolean): Promise<void> {
    const _id = idOf(tenant, name);
    if (isPaused) await server.write(() => pausedAgents.replaceOne({ _id }, { _id, tenant, name }, { upsert: true }));
    else await server.write(() => pausedAgents.deleteOne({ _id }));
  }
  const newest = async (filter: QueryFilter<Stored>): Promise<Agent | null> =>
    (await documents.all(filter, { version: -1 }, 1))[0] ?? null;
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
      const after = textBefore(page) ?? '';
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
      return pageOf(await documents.all({ _id: { $in: ids } }, { name: 1 }), page, ({ name }) => [name]);
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
  const documents = jsonDocuments<ToolServer, Stored>(server, servers);
  return {
    insert: (tool) => {
      const { tenant, name, id: alias } = tool;
      const document = JSON.stringify(tool);
      return inserted(server, servers, { _id: idOf(tenant, name), tenant, name, alias, version: 1, document });
    },
    get: (tenant, nameOrId) => documents.one(called(tenant, nameOrId)),
    list: (tenant, page) => documents.page('name', { tenant }, page),
    replace: (tool, seen) => documents.replace(idOf(tool.tenant, tool.name), tool, seen),
    remove: (tenant, name) => documents.remove({ _id: idOf(tenant, name) }),
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
    putLastGood: async (tenant, baseUrl, sha256) => {
      const filter = { _id: idOf(tenant, baseUrl) };
      await upserted(server, (options) => lastGood.updateOne(filter, { $set: { sha256 } }, options));
    },
    lastGood: async (tenant, baseUrl) => {
      const found = await server.read(() => lastGood.findOne({ _id: idOf(tenant, baseUrl) }).lean());
      return found?.sha256 ?? null;
    },
  };
}

export function createSecrets(server: MongoServer): Secrets {
  const secrets = server.connection.model<Stored>('Secret', secretSchema);
  const documents = jsonDocuments<SealedSecret, Stored>(server, secrets);
  return {
    put: async (secret) => {
      const { tenant, name } = secret;
      const filter = { _id: idOf(tenant, name) };
      const update = { $set: { tenant, name, alias: name, version: 1, document: JSON.stringify(secret) } };
      await upserted(server, (options) => secrets.updateOne(filter, update, options));
    },
    get: (tenant, name) => documents.one({ _id: idOf(tenant, name) }),
    list: (tenant) => documents.all({ tenant }, { name: 1 }),
    replace: (secret, seen) => documents.replace(idOf(secret.tenant, secret.name), secret, seen),
    remove: (tenant, name) => documents.remove({ _id: idOf(tenant, name) }),
  };
}

const called = (tenant: TenantId, nameOrId: string) => ({ tenant, $or: [{ name: nameOrId }, { alias: nameOrId }] });
