// Views and logins in memory. Contracts: ports/stores/views.ts, ports/stores/logins.ts.
import { isCleared, type Login, type Logins, type View, type Views, viewsMax } from '@dormouse/ports';
import type { Passage } from '../gate.ts';
import { nameOf } from '../log/thread-log.ts';
import { rising } from './rows.ts';

export type ViewStore = Map<string, Map<string, View>>;
export type LoginStore = Map<string, Map<string, Login>>;

export function createViews(store: ViewStore, passage: Passage): Views {
  return {
    put: (key, view) =>
      passage.write('views.put', nameOf(key), () => {
        const views = store.get(nameOf(key)) ?? new Map<string, View>();
        store.set(nameOf(key), views);
        views.delete(view.viewType); // moves it to the end: the oldest change is first
        if (!isCleared(view)) views.set(view.viewType, view);
        const [oldest] = views.keys();
        if (views.size > viewsMax && oldest !== undefined) views.delete(oldest);
      }),
    list: (key) =>
      passage.read('views.list', nameOf(key), () =>
        [...(store.get(nameOf(key))?.values() ?? [])].toSorted(rising(({ viewType }) => viewType)),
      ),
  };
}

export function createLogins(store: LoginStore, passage: Passage): Logins {
  return {
    put: (key, login) =>
      passage.write('logins.put', nameOf(key), () => {
        const logins = store.get(nameOf(key)) ?? new Map<string, Login>();
        store.set(nameOf(key), logins.set(login.toolCallId, login));
      }),
    list: (key, now) =>
      passage.read('logins.list', nameOf(key), () =>
        [...(store.get(nameOf(key))?.values() ?? [])].filter(({ expiresAt }) => expiresAt > now),
      ),
    forget: (key, toolCallId) =>
      passage.write('logins.forget', nameOf(key), () => void store.get(nameOf(key))?.delete(toolCallId)),
  };
}
