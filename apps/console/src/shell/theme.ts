// Dark, light, or what the system says. The choice is an attribute of the page and stays in this browser.
import { useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';

const storedAs = 'dormouse-theme';
const listeners = new Set<() => void>();
const isTheme = (value: unknown): value is Theme => value === 'system' || value === 'light' || value === 'dark';

export function currentTheme(): Theme {
  const stored = localStorage.getItem(storedAs);
  return isTheme(stored) ? stored : 'system';
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(storedAs, theme);
  applyTheme();
  for (const listener of listeners) listener();
}

export function applyTheme(): void {
  document.documentElement.dataset['theme'] = currentTheme();
}

export const useTheme = (): Theme =>
  useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, currentTheme);
