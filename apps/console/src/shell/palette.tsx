// The command palette: every screen, the threads that were touched last, and what can be done here.
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { Autocomplete, useFilter } from 'react-aria-components/Autocomplete';
import { Dialog } from 'react-aria-components/Dialog';
import { Menu, MenuItem } from 'react-aria-components/Menu';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { Input, SearchField, Label } from 'react-aria-components/SearchField';
import { threadList } from '../api/queries.ts';
import { plainLine } from '../elements/plain-text.ts';
import { actions } from './actions.ts';
import { places } from './places.ts';
import { setTheme } from './theme.ts';

interface Command {
  readonly id: string;
  readonly label: string;
  readonly hint: string;
  readonly run: () => void;
}

export function CommandPalette({ close }: { readonly close: () => void }): ReactElement {
  const { contains } = useFilter({ sensitivity: 'base' });
  const commands = useCommands();
  const run = (id: unknown): void => {
    close();
    commands.find((command) => command.id === id)?.run();
  };
  return (
    <ModalOverlay className="overlay" isOpen isDismissable onOpenChange={(isOpen) => !isOpen && close()}>
      <Modal className="modal palette">
        <Dialog aria-label="Commands">
          <Autocomplete filter={contains}>
            <SearchField autoFocus aria-label="Command">
              <Label className="visually-hidden">Command</Label>
              <Input placeholder="Go to, or do …" />
            </SearchField>
            <div className="palette-scroll" tabIndex={0} aria-label="Commands" role="group">
              <Menu
                className="menu palette-menu"
                items={commands}
                onAction={run}
                renderEmptyState={() => <p className="quiet pad">Nothing by that name.</p>}
              >
                {({ id, label, hint }) => (
                  <MenuItem id={id} textValue={`${label} ${hint}`} className="menu-item">
                    <span>{label}</span>
                    <span className="quiet">{hint}</span>
                  </MenuItem>
                )}
              </Menu>
            </div>
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function useCommands(): readonly Command[] {
  const navigate = useNavigate();
  const { data } = useQuery(threadList({}, 1));
  const here = actions();
  return [
    ...here.map(({ id, label, run }) => ({ id: `do ${id}`, label, hint: 'here', run })),
    {
      id: 'new',
      label: 'New thread',
      hint: 'playground',
      run: () => void navigate({ to: '/threads', search: { new: true } }),
    },
    ...places.map(({ to, label }) => ({ id: to, label, hint: 'screen', run: () => void navigate({ to }) })),
    ...(['light', 'dark', 'system'] as const).map((theme) => ({
      id: `theme ${theme}`,
      label: `Theme: ${theme}`,
      hint: 'appearance',
      run: () => setTheme(theme),
    })),
    ...(data?.rows ?? []).slice(0, 50).map(({ id, title, status, agent }) => ({
      id,
      label: plainLine(title ?? id, 80),
      hint: `${plainLine(agent.name, 40)}, ${status}`,
      run: () => void navigate({ to: '/threads/$threadId', params: { threadId: id } }),
    })),
  ];
}
