// Dark, light, or what the system says. The choice is an attribute of the page and stays in this browser.
import { useSyncExternalStore } from 'react';

export const themes = ['system', 'light', 'dark'] as const;

export type Theme = (typeof themes)[number];

const storedAs = 'dormouse-theme';
const listeners = new Set<() => void>();

export function currentTheme(): Theme {
  const stored = localStorage.getItem(storedAs);
  return themes.find((theme) => theme === stored) ?? 'system';
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
