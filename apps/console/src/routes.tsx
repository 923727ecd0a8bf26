// The addresses of the console. What a screen shows is in its address: filters, the selected event, the position.
// Screens but the first are chunks of their own.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';
import {
  agentSearch,
  inboxSearch,
  parkedSearch,
  threadSearch,
  threadsSearch,
  toolServerSearch,
  usageSearch,
} from './search.ts';
import { Shell } from './shell/shell.tsx';
import { Missing, Broken } from './shell/missing.tsx';
import { ThreadsScreen } from './threads/threads-screen.tsx';

const root = createRootRoute({ component: Shell, notFoundComponent: Missing, errorComponent: Broken });

const at = <const Path extends string>(path: Path) => ({ getParentRoute: () => root, path });

const home = createRoute({
  ...at('/'),
  beforeLoad: () => {
    throw redirect({ to: '/threads', replace: true });
  },
});

const threadsRoute = createRoute({
  ...at('/threads'),
  component: ThreadsScreen,
  validateSearch: threadsSearch,
});

const threadRoute = createRoute({
  ...at('/threads/$threadId'),
  component: lazyRouteComponent(() => import('./thread/thread-screen.tsx'), 'ThreadScreen'),
  validateSearch: threadSearch,
});

const inboxRoute = createRoute({
  ...at('/inbox'),
  component: lazyRouteComponent(() => import('./inbox/inbox-screen.tsx'), 'InboxScreen'),
  validateSearch: inboxSearch,
});

const agentsRoute = createRoute({
  ...at('/agents'),
  component: lazyRouteComponent(() => import('./agents/agents-screen.tsx'), 'AgentsScreen'),
});

const agentRoute = createRoute({
  ...at('/agents/$agentName'),
  component: lazyRouteComponent(() => import('./agents/agent-screen.tsx'), 'AgentScreen'),
  validateSearch: agentSearch,
});

const toolsRoute = createRoute({
  ...at('/tools'),
  component: lazyRouteComponent(() => import('./tools/tool-servers-screen.tsx'), 'ToolServersScreen'),
});

const toolServerRoute = createRoute({
  ...at('/tools/$serverName'),
  component: lazyRouteComponent(() => import('./tools/tool-server-screen.tsx'), 'ToolServerScreen'),
  validateSearch: toolServerSearch,
});

const waitingRoute = createRoute({
  ...at('/waiting'),
  component: lazyRouteComponent(() => import('./operations/waiting-screen.tsx'), 'WaitingScreen'),
});

const parkedRoute = createRoute({
  ...at('/parked'),
  component: lazyRouteComponent(() => import('./operations/parked-screen.tsx'), 'ParkedScreen'),
  validateSearch: parkedSearch,
});

const usageRoute = createRoute({
  ...at('/usage'),
  component: lazyRouteComponent(() => import('./operations/usage-screen.tsx'), 'UsageScreen'),
  validateSearch: usageSearch,
});

const settingsRoute = createRoute({
  ...at('/settings'),
  component: lazyRouteComponent(() => import('./operations/settings-screen.tsx'), 'SettingsScreen'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    threadsRoute,
    threadRoute,
    inboxRoute,
    agentsRoute,
    agentRoute,
    toolsRoute,
    toolServerRoute,
    waitingRoute,
    parkedRoute,
    usageRoute,
    settingsRoute,
  ]),
  defaultPreload: 'intent',
  defaultErrorComponent: Broken, // a screen that fails leaves the others within reach
  scrollRestoration: false,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
