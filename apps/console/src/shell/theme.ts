// Dark, light, or what the system says. The choice is an attribute of the page and stays in this browser.
import { useSyncExternalStore } from 'react';
import { createListeners } from '../api/listeners.ts';

export const themes = ['system', 'light', 'dark'] as const;

export type Theme = (typeof themes)[number];

const storedAs = 'dormouse-theme';
const listeners = createListeners();

export function currentTheme(): Theme {
  const stored = localStorage.getItem(storedAs);
  return themes.find((theme) => theme === stored) ?? 'system';
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(storedAs, theme);
  applyTheme();
  listeners.call();
}

export function applyTheme(): void {
  document.documentElement.dataset['theme'] = currentTheme();
}

export const useTheme = (): Theme => useSyncExternalStore(listeners.subscribe, currentTheme);
