// A button with a menu of actions.
import type { ReactElement } from 'react';
import { Button } from 'react-aria-components/Button';
import { Menu, MenuItem, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { Icon } from './icon.tsx';

export interface MenuAction {
  readonly id: string;
  readonly label: string;
  readonly isDisabled?: boolean;
  readonly isDangerous?: boolean;
  readonly run: () => void;
}

export function ActionsMenu({
  label,
  actions,
}: {
  readonly label: string;
  readonly actions: readonly MenuAction[];
}): ReactElement {
  return (
    <MenuTrigger>
      <Button className="button" aria-label={label}>
        <Icon name="more" />
      </Button>
      <Popover className="popover" placement="bottom end">
        <Menu className="menu" items={actions} onAction={(id) => actions.find((action) => action.id === id)?.run()}>
          {(action) => (
            <MenuItem
              id={action.id}
              textValue={action.label}
              isDisabled={action.isDisabled ?? false}
              className={action.isDangerous === true ? 'menu-item menu-danger' : 'menu-item'}
            >
              {action.label}
            </MenuItem>
          )}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
