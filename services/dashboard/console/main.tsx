// The order matters: later files change the styles of earlier ones.
import './mantine.css';
import '../assets/frame.css';
import './console.css';
import { createTheme, Drawer, MantineProvider, Modal, Popover, Text, Title, Tooltip } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode, type ReactElement } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient, usePerson } from './api/call-api.ts';
import { ChatPage } from './chat/chat-page.tsx';
import { OverviewPage } from './overview/overview-page.tsx';
import { PageLink, usePath, useSearchParameter } from './routing/navigation.tsx';
import { pageOfPath, type Page } from './routing/page-of-path.ts';
import { SchedulesPage } from './schedules/schedules-page.tsx';
import { Shell } from './shell.tsx';
import { TaskPage } from './tasks/task-page.tsx';

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

const TITLES: Readonly<Record<Page['name'], string>> = {
  overview: 'Overview',
  chat: 'Chat',
  schedules: 'Schedules',
  task: 'Task',
  unknown: 'Not found',
};

/** The page at the current address, inside the shell. */
function ConsoleApp(): ReactElement {
  const page = pageOfPath(usePath());
  return (
    <Shell page={page.name} title={TITLES[page.name]}>
      {contentOf(page)}
    </Shell>
  );
}

function contentOf(page: Page): ReactElement {
  switch (page.name) {
    case 'overview':
      return <OverviewPage />;
    case 'chat':
      return <ChatPage session={page.session} />;
    case 'schedules':
      return <SchedulesPage />;
    case 'task':
      return <TaskOfAddress key={page.id} id={page.id} />;
    case 'unknown':
      return <UnknownPage />;
  }
}

/** The board's links name the tenant in `?tenant=`, also the person's own. */
function TaskOfAddress({ id }: { id: string }): ReactElement {
  const named = useSearchParameter('tenant');
  const { data: person } = usePerson();
  if (named !== null && person === undefined) return <div className="page" />;
  const tenant = named === null || named === person?.tenant ? null : named;
  return <TaskPage taskRef={{ id, tenant }} />;
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
        <ConsoleApp />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
