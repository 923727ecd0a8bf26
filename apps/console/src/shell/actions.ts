// What can be done on the screen that is shown, for the command palette: a screen offers its actions while it is there.
import { useEffect } from 'react';

export interface Action {
  readonly id: string;
  readonly label: string;
  readonly run: () => void;
}

const offered = new Map<string, readonly Action[]>();

export const actions = (): readonly Action[] => [...offered.values()].flat();

/** `given` may be another list at every render: the newest is offered. */
export function useActions(screen: string, given: readonly Action[]): void {
  useEffect(() => {
    offered.set(screen, given);
    return () => {
      offered.delete(screen);
    };
  });
}
