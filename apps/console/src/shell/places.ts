// The screens of the console, in the order of the navigation.
import type { IconName } from '../elements/icon.tsx';

export const places = [
  { to: '/threads', label: 'Threads', icon: 'threads' },
  { to: '/inbox', label: 'Inbox', icon: 'inbox' },
  { to: '/agents', label: 'Agents', icon: 'agents' },
  { to: '/tools', label: 'Tool servers', icon: 'tools' },
  { to: '/waiting', label: 'Waiting', icon: 'waiting' },
  { to: '/parked', label: 'Parked', icon: 'parked' },
  { to: '/usage', label: 'Usage', icon: 'usage' },
  { to: '/settings', label: 'Settings', icon: 'settings' },
] as const satisfies readonly { to: string; label: string; icon: IconName }[];
