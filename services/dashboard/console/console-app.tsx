import type { ReactElement } from 'react';
import { usePerson } from './api/queries.ts';
import { ChatPage } from './chat/chat-page.tsx';
import { OverviewPage } from './overview/overview-page.tsx';
import { pageOfPath, type Page } from './routing/page-of-path.ts';
import { usePath, useSearchParameter } from './routing/use-path.ts';
import { SchedulesPage } from './schedules/schedules-page.tsx';
import { Shell } from './shell/shell.tsx';
import { UnknownPage } from './shell/unknown-page.tsx';
import { TaskPage } from './tasks/task-page.tsx';

const TITLES: Readonly<Record<Page['name'], string>> = {
  overview: 'Overview',
  chat: 'Chat',
  schedules: 'Schedules',
  task: 'Task',
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
    case 'task':
      return <TaskOfAddress key={page.id} id={page.id} />;
    case 'unknown':
      return <UnknownPage />;
  }
}

/** `?tenant=` names another tenant than one's own, as the board's links do. */
function TaskOfAddress({ id }: { id: string }): ReactElement {
  const asked = useSearchParameter('tenant');
  const { data: person } = usePerson();
  if (asked !== null && person === undefined) return <div className="page" />;
  const tenant = asked === null || asked === person?.tenant ? null : asked;
  return <TaskPage place={{ id, tenant }} />;
}
