// The order matters: later files change the styles of earlier ones.
import './mantine.css';
import '../assets/frame.css';
import './console.css';
import { createTheme, Drawer, MantineProvider, Modal, Popover, Text, Title, Tooltip } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode, type ReactElement } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './api/api.ts';
import { PAGE_COMPONENTS, preloadPages } from './pages/registry.ts';
import { findPage } from './routing/find-page.ts';
import { PageLink, usePath } from './routing/navigation.tsx';
import { LocationProvider } from './routing/shown-location.tsx';
import { Shell } from './shell/shell.tsx';

/** The options that components read in scripts; colours and fonts are variables in console.css. */
const theme = createTheme({
  primaryColor: 'indigo',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // Locking the page's scrolling writes a <style> element, which the content policy refuses.
    Modal: Modal.extend({ defaultProps: { lockScroll: false, centered: true } }),
    Drawer: Drawer.extend({ defaultProps: { lockScroll: false } }),
    Popover: Popover.extend({ defaultProps: { shadow: 'md' } }),
    Tooltip: Tooltip.extend({ defaultProps: { events: { hover: true, focus: true, touch: true }, multiline: true, maw: 320 } }),
  },
});

/** The page at the current address, inside the shell. */
function ConsoleApp(): ReactElement {
  const found = findPage(usePath());
  if (found === null) {
    return (
      <Shell path={null} title="Not found">
        <UnknownPage />
      </Shell>
    );
  }
  const { page, params } = found;
  const Page = PAGE_COMPONENTS[page.name];
  return (
    <Shell path={page.path} title={page.text}>
      <Page params={params} />
    </Shell>
  );
}

function UnknownPage(): ReactElement {
  return (
    <div className="page">
      <Title order={1}>There is nothing here</Title>
      <Text mt="sm">
        The address may be mistyped. <PageLink href="/">To the overview</PageLink>
      </Text>
    </div>
  );
}

const root = document.querySelector('#root');
if (root === null) throw new Error('The page has no place for the console');

// The content policy refuses <style> elements, so Mantine must not write its variables and classes into the page.
// Its style sheet has the same variables, and console.css changes them.
createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
      <QueryClientProvider client={createQueryClient()}>
        <LocationProvider>
          <ConsoleApp />
        </LocationProvider>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);

window.addEventListener('load', preloadPages, { once: true });
