// Current views and open logins. Contracts: ports/views.ts, ports/logins.ts.
import { isCleared, type Login, type Logins, type ThreadKey, type View, type Views, viewsMax } from '@dormouse/ports';
import { idOf } from '../id-of.ts';
import type { MongoServer } from '../mongo-server.ts';

interface ViewDocument extends ThreadKey, View {
  readonly _id: string;
  readonly changedAt: number;
}

export function createViews(server: MongoServer, now: () => number = Date.now): Views {
  const views = server.collection<ViewDocument>('views');
  const idOfView = ({ tenant, thread }: ThreadKey, viewType: string): string => idOf(tenant, thread, viewType);

  async function trim({ tenant, thread }: ThreadKey): Promise<void> {
    const extra = await server.read(() =>
      views
        .find({ tenant, thread })
        .sort({ changedAt: -1 })
        .skip(viewsMax)
        .project<{ _id: string }>({ _id: 1 })
        .toArray(),
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
      const document = { tenant, thread, ...view, changedAt: now() };
      const { upsertedCount } = await server.write(() => views.replaceOne({ _id }, document, { upsert: true }));
      if (upsertedCount > 0) await trim(key);
    },
    list: async ({ tenant, thread }) => {
      const found = await server.read(() => views.find({ tenant, thread }).sort({ viewType: 1 }).toArray());
      return found.map(({ viewType, content }) => ({ viewType, content }));
    },
  };
}

interface LoginDocument extends ThreadKey, Login {
  readonly _id: string;
  /** The server deletes the document some time after this. */
  readonly expiry: Date;
}

export function createLogins(server: MongoServer): Logins {
  const logins = server.collection<LoginDocument>('sealed');
  const idOfLogin = ({ tenant, thread }: ThreadKey, toolCallId: string): string => idOf(tenant, thread, toolCallId);
  return {
    put: async (key, login) => {
      const { tenant, thread } = key;
      const document = { tenant, thread, ...login, expiry: new Date(login.expiresAt) };
      await server.write(() =>
        logins.replaceOne({ _id: idOfLogin(key, login.toolCallId) }, document, { upsert: true }),
      );
    },
    list: async ({ tenant, thread }, now) => {
      const found = await server.read(() =>
        logins
          .find({ tenant, thread, expiresAt: { $gt: now } })
          .sort({ toolCallId: 1 })
          .toArray(),
      );
      return found.map(({ toolCallId, sealed, expiresAt }) => ({ toolCallId, sealed, expiresAt }));
    },
    forget: async (key, toolCallId) =>
      void (await server.write(() => logins.deleteOne({ _id: idOfLogin(key, toolCallId) }))),
  };
}
