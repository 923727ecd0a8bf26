// Current views and open logins. Contracts: ports/stores/views.ts, ports/stores/logins.ts.
import { isCleared, type Login, type Logins, type ThreadKey, type View, type Views, viewsMax } from '@dormouse/ports';
import { Schema } from 'mongoose';
import { everySchema, number, text } from '../document-shape.ts';
import { idOf } from '../id-of.ts';
import type { MongoServer } from '../mongo-server.ts';

interface ViewDocument extends ThreadKey, View {
  readonly _id: string;
  readonly changedAt: number;
}

const viewSchema = new Schema<ViewDocument>(
  { _id: text, tenant: text, thread: text, viewType: text, content: text, changedAt: number },
  { ...everySchema, collection: 'views' },
);
viewSchema.index({ tenant: 1, thread: 1, viewType: 1 }, { name: 'by_thread' });

export function createViews(server: MongoServer, now: () => number = Date.now): Views {
  const views = server.connection.model<ViewDocument>('View', viewSchema);
  const idOfView = ({ tenant, thread }: ThreadKey, viewType: string): string => idOf(tenant, thread, viewType);

  async function trim({ tenant, thread }: ThreadKey): Promise<void> {
    const extra = await server.read(() =>
      views.find({ tenant, thread }).sort({ changedAt: -1 }).skip(viewsMax).select('_id').lean(),
    );
    for (const { _id } of extra) await server.write(() => views.deleteOne({ _id }));
  }

  return {
    put: async (key, view) => {
      const { tenant, thread } = key;
      const _id = idOfView(key, view.viewType);
      if (isCleared(view)) {
        await server.write(() => views.deleteOne({ _id }));
        return;
      }
      const document = { _id, tenant, thread, ...view, changedAt: now() };
      const { upsertedCount } = await server.write(() => views.replaceOne({ _id }, document, { upsert: true }));
      if (upsertedCount > 0) await trim(key);
    },
    list: async ({ tenant, thread }) => {
      const found = await server.read(() => views.find({ tenant, thread }).sort({ viewType: 1 }).lean());
      return found.map(({ viewType, content }) => ({ viewType, content }));
    },
  };
}

interface LoginDocument extends ThreadKey, Login {
  readonly _id: string;
  /** The server deletes the document some time after this. */
  readonly expiry: Date;
}

const loginSchema = new Schema<LoginDocument>(
  {
    ...{ _id: text, tenant: text, thread: text, toolCallId: text, sealed: text, expiresAt: number },
    expiry: { type: Date, required: true },
  },
  { ...everySchema, collection: 'sealed' },
);
loginSchema.index({ tenant: 1, thread: 1, toolCallId: 1 }, { name: 'by_thread' });
loginSchema.index({ expiry: 1 }, { name: 'expiry', expireAfterSeconds: 0 });

export function createLogins(server: MongoServer): Logins {
  const logins = server.connection.model<LoginDocument>('Login', loginSchema);
  const idOfLogin = ({ tenant, thread }: ThreadKey, toolCallId: string): string => idOf(tenant, thread, toolCallId);
  return {
    put: async (key, login) => {
      const { tenant, thread } = key;
      const _id = idOfLogin(key, login.toolCallId);
      const document = { _id, tenant, thread, ...login, expiry: new Date(login.expiresAt) };
      await server.write(() => logins.replaceOne({ _id }, document, { upsert: true }));
    },
    list: async ({ tenant, thread }, now) => {
      const found = await server.read(() =>
        logins
          .find({ tenant, thread, expiresAt: { $gt: now } })
          .sort({ toolCallId: 1 })
          .lean(),
      );
      return found.map(({ toolCallId, sealed, expiresAt }) => ({ toolCallId, sealed, expiresAt }));
    },
    forget: async (key, toolCallId) =>
      void (await server.write(() => logins.deleteOne({ _id: idOfLogin(key, toolCallId) }))),
  };
}
