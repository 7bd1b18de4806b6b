import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { SessionSummary } from '../api/records.ts';
import { readSessions } from '../api/session-calls.ts';
import { Icon } from '../parts/icon.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { sessionPath } from '../routing/page-of-path.ts';
import { PageLink } from '../routing/page-link.tsx';
import type { RecentChat } from './recent-chats.ts';
import classes from './session-list.module.css';

const LOOK_MS = 5000;

export interface SessionListProps {
  /** The one that is shown. */
  current: string | null;
  /** Those that were begun here. */
  recent: readonly RecentChat[];
  onNew: () => void;
  /** When one of them was picked. */
  onPick: () => void;
}

/** The conversations that there are: those begun in this browser, newest first, then the tenant's others by name. */
export function SessionList({ current, recent, onNew, onPick }: SessionListProps): ReactElement {
  const { data, error } = useQuery({
    queryKey: ['sessions'],
    queryFn: ({ signal }) => readSessions(signal),
    refetchInterval: LOOK_MS,
  });
  const known = new Map(data?.map((session) => [session.id, session]));
  const others = (data ?? []).filter(({ id }) => !recent.some((chat) => chat.id === id));
  const shown = [...recent, ...others.map(({ id }) => ({ id, title: id }))];
  return (
    <nav className={classes['sessions']} aria-label="Conversations">
      <Button variant="light" fullWidth leftSection={<Icon name="plus" size={16} />} onClick={onNew}>
        New chat
      </Button>
      {error === null ? null : <ProblemNote title="The conversations could not be read" error={error} />}
      <ul>
        {shown.map(({ id, title }) => (
          <li key={id}>
            <PageLink href={sessionPath(id)} aria-current={id === current ? 'page' : undefined} onClick={onPick} title={id}>
              <span className={classes['name']}>{title}</span>
              <span className="faint">{stateText(known.get(id))}</span>
            </PageLink>
          </li>
        ))}
      </ul>
      {data !== undefined && shown.length === 0 ? <p className="faint">Conversations appear here once somebody wrote in them.</p> : null}
    </nav>
  );
}

function stateText(session: SessionSummary | undefined): string {
  if (session === undefined) return 'quiet';
  const { surface, holder, waitingTotal } = session;
  const parts = [surface, holder === null ? null : 'runs', waitingTotal === 0 ? null : `${waitingTotal} waiting`];
  return parts.filter((part) => part !== null).join(' · ');
}
