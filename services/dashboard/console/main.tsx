// The styles that others change come before those that change them.
import './mantine.css';
import './console.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './api/queries.ts';
import { ConsoleApp } from './console-app.tsx';
import { theme } from './theme.ts';

const root = document.querySelector('#root');
if (root === null) throw new Error('The page has no place for the console');

// Mantine writes its variables and classes into the page as <style> elements unless told not to; the content policy refuses
// those. The same variables are in its style sheet, and console.css changes them.
createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
      <QueryClientProvider client={createQueryClient()}>
        <ConsoleApp />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
