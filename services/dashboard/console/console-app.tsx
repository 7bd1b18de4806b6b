import type { ReactElement } from 'react';
import { ChatPage } from './chat/chat-page.tsx';
import { OverviewPage } from './overview/overview-page.tsx';
import { pageOfPath, type Page } from './routing/page-of-path.ts';
import { usePath } from './routing/use-path.ts';
import { SchedulesPage } from './schedules/schedules-page.tsx';
import { Shell } from './shell/shell.tsx';
import { UnknownPage } from './shell/unknown-page.tsx';

const TITLES: Readonly<Record<Page['name'], string>> = {
  overview: 'Overview',
  chat: 'Chat',
  schedules: 'Schedules',
  unknown: 'Not found',
};

/** The page of the present address inside the shell. */
export function ConsoleApp(): ReactElement {
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
    case 'unknown':
      return <UnknownPage />;
  }
}
