// The frame of every screen: navigation, the state of the connection, notices, the command palette, the sign-in.
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState, type ReactElement } from 'react';
import { inbox } from '../api/queries.ts';
import { useConnection } from '../api/connection.ts';
import { Button } from '../elements/button.tsx';
import { Icon, type IconName } from '../elements/icon.tsx';
import { Notices } from './notice-list.tsx';
import { places } from './places.ts';
import { setTheme, type Theme, themes, useTheme } from './theme.ts';
import { SignIn } from './sign-in.tsx';

const Palette = lazy(() => import('./palette.tsx').then(({ CommandPalette }) => ({ default: CommandPalette })));

export function Shell(): ReactElement {
  const connection = useConnection();
  const [isPaletteOpen, setPaletteOpen] = usePalette();
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="rail">
        <div className="brand">
          <img src="/favicon.svg" alt="" width="22" height="22" />
          <span>Dormouse</span>
        </div>
        <Navigation />
        <div className="rail-end">
          <Button className="palette-button" onClick={() => setPaletteOpen(true)}>
            <Icon name="search" />
            <span>Commands</span>
            <kbd>{isMac ? '⌘' : 'Ctrl'} K</kbd>
          </Button>
          <ThemeButton />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {connection === 'away' ? (
          <p className="away" role="status">
            <span className="badge-dot" aria-hidden="true" /> The runtime does not answer. Reconnecting; what you typed
            stays here.
          </p>
        ) : null}
        {connection === 'signedOut' ? <SignIn /> : null}
        <div className="screen" hidden={connection === 'signedOut'}>
          <Outlet />
        </div>
      </main>
      <Notices />
      {isPaletteOpen ? (
        <Suspense fallback={null}>
          <Palette close={() => setPaletteOpen(false)} />
        </Suspense>
      ) : null}
    </div>
  );
}

function Navigation(): ReactElement {
  const { data: open = [] } = useQuery(inbox);
  return (
    <nav aria-label="Screens">
      <ul>
        {places.map(({ to, label, icon }) => (
          <li key={to}>
            <Link to={to} className="nav-link" activeProps={{ className: 'nav-link nav-here' }}>
              <Icon name={icon} />
              <span>{label}</span>
              {to === '/inbox' && open.length > 0 ? (
                <span className="count">
                  {open.length}
                  <span className="visually-hidden"> open</span>
                </span>
              ) : null}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

const themeIcons: Readonly<Record<Theme, IconName>> = { system: 'auto', light: 'sun', dark: 'moon' };

function ThemeButton(): ReactElement {
  const theme = useTheme();
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system';
  return (
    <Button kind="quiet" onClick={() => setTheme(next)}>
      <Icon name={themeIcons[theme]} />
      <span>Theme: {theme}</span>
    </Button>
  );
}

const isMac = /mac|iphone|ipad/i.test(navigator.userAgent);

/** Opens with Ctrl or Cmd and K. */
function usePalette(): readonly [boolean, (isOpen: boolean) => void] {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      setOpen((was) => !was);
    };
    addEventListener('keydown', onKey);
    return () => {
      removeEventListener('keydown', onKey);
    };
  }, []);
  return [isOpen, setOpen];
}
