// The console's beginning: theme, queries, routes.
import './styles/tokens.css';
import './styles/base.css';
import './styles/screens.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queries } from './api/queries.ts';
import { router } from './routes.tsx';
import { applyTheme } from './shell/theme.ts';

applyTheme();
const place = document.getElementById('console');
if (place === null) throw new Error('the page has no place for the console');
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
