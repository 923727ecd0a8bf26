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

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/threads', replace: true });
  },
});

const threadsRoute = createRoute({
  getParentRoute: () => root,
  path: '/threads',
  component: ThreadsScreen,
  validateSearch: threadsSearch,
});

const threadRoute = createRoute({
  getParentRoute: () => root,
  path: '/threads/$threadId',
  component: lazyRouteComponent(() => import('./thread/thread-screen.tsx'), 'ThreadScreen'),
  validateSearch: threadSearch,
});

const inboxRoute = createRoute({
  getParentRoute: () => root,
  path: '/inbox',
  component: lazyRouteComponent(() => import('./inbox/inbox-screen.tsx'), 'InboxScreen'),
  validateSearch: inboxSearch,
});

const agentsRoute = createRoute({
  getParentRoute: () => root,
  path: '/agents',
  component: lazyRouteComponent(() => import('./agents/agents-screen.tsx'), 'AgentsScreen'),
});

const agentRoute = createRoute({
  getParentRoute: () => root,
  path: '/agents/$agentName',
  component: lazyRouteComponent(() => import('./agents/agent-screen.tsx'), 'AgentScreen'),
  validateSearch: agentSearch,
});

const toolsRoute = createRoute({
  getParentRoute: () => root,
  path: '/tools',
  component: lazyRouteComponent(() => import('./tools/tool-servers-screen.tsx'), 'ToolServersScreen'),
});

const toolServerRoute = createRoute({
  getParentRoute: () => root,
  path: '/tools/$serverName',
  component: lazyRouteComponent(() => import('./tools/tool-server-screen.tsx'), 'ToolServerScreen'),
  validateSearch: toolServerSearch,
});

const waitingRoute = createRoute({
  getParentRoute: () => root,
  path: '/waiting',
  component: lazyRouteComponent(() => import('./operations/waiting-screen.tsx'), 'WaitingScreen'),
});

const parkedRoute = createRoute({
  getParentRoute: () => root,
  path: '/parked',
  component: lazyRouteComponent(() => import('./operations/parked-screen.tsx'), 'ParkedScreen'),
  validateSearch: parkedSearch,
});

const usageRoute = createRoute({
  getParentRoute: () => root,
  path: '/usage',
  component: lazyRouteComponent(() => import('./operations/usage-screen.tsx'), 'UsageScreen'),
  validateSearch: usageSearch,
});

const settingsRoute = createRoute({
  getParentRoute: () => root,
  path: '/settings',
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
