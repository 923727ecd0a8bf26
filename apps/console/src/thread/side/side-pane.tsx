// The right side of a thread: its timeline, its turns, calls, views, children, and what it is.
import { lazy, Suspense, type ReactElement } from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components/Tabs';
import { Timeline } from './timeline.tsx';
import { useThreadView, type Tab as TabName } from '../thread-context.ts';

const Turns = lazy(() => import('./turns.tsx').then((module) => ({ default: module.Turns })));
const Calls = lazy(() => import('./calls.tsx').then((module) => ({ default: module.Calls })));
const Views = lazy(() => import('./views.tsx').then((module) => ({ default: module.Views })));
const Children = lazy(() => import('./children.tsx').then((module) => ({ default: module.Children })));
const About = lazy(() => import('./about.tsx').then((module) => ({ default: module.About })));

const tabs: readonly { readonly id: TabName; readonly label: string; readonly Panel: () => ReactElement | null }[] = [
  { id: 'events', label: 'Timeline', Panel: Timeline },
  { id: 'turns', label: 'Turns', Panel: () => <Turns /> },
  { id: 'calls', label: 'Calls', Panel: () => <Calls /> },
  { id: 'views', label: 'Views', Panel: () => <Views /> },
  { id: 'children', label: 'Children', Panel: () => <Children /> },
  { id: 'about', label: 'About', Panel: () => <About /> },
];

export function SidePane(): ReactElement {
  const { tab, change, state } = useThreadView();
  return (
    <section className="pane pane-side" aria-label="What happened">
      <Tabs
        className="tabs"
        selectedKey={tab}
        onSelectionChange={(id) => change({ tab: tabs.find((each) => each.id === id)?.id })}
      >
        <TabList className="tab-list" aria-label="Parts of the thread">
          {tabs.map(({ id, label }) => (
            <Tab key={id} id={id} className="tab">
              {label}
              {id === 'views' && state.views.size > 0 ? <span className="count">{state.views.size}</span> : null}
            </Tab>
          ))}
        </TabList>
        {tabs.map(({ id, Panel }) => (
          <TabPanel key={id} id={id} className="tab-panel">
            <Suspense fallback={null}>
              <Panel />
            </Suspense>
          </TabPanel>
        ))}
      </Tabs>
    </section>
  );
}
