import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { z } from 'zod';
import type { SessionSummary } from '#shared/client/openapi.gen.ts';
import { api, itemsOf } from '../../api/api.ts';
import { Icon } from '../../parts/icon.tsx';
import { ProblemNote } from '../../parts/notes/problem-note.tsx';
import { PageLink } from '../../routing/navigation.tsx';
import { sessionPath } from '../../routing/paths.ts';
import { originText } from '../sessions/origin-text.ts';
import classes from './session-list.module.css';

const POLL_MS = 5000;

interface SessionListProps {
  /** The session that is shown. */
  current: string | null;
  /** The conversations that were started in this browser. */
  recent: readonly RecentChat[];
  onNew: () => void;
  /** Called when the person picks a conversation. */
  onPick: () => void;
}

/** The conversations started in this browser, newest first, then the tenant's other sessions by id. */
export function SessionList({ current, recent, onNew, onPick }: SessionListProps): ReactElement {
  const { data, error } = useQuery({
    queryKey: ['sessions'],
    queryFn: ({ signal }) => itemsOf(api.GET('/v1/sessions', { params: { query: { sort: 'activity', limit: SHOWN } }, signal })),
    refetchInterval: POLL_MS,
  });
  const known = new Map(data?.map((session) => [session.id, session]));
  const others = (data ?? []).filter(({ id }) => !recent.some((chat) => chat.id === id));
  const shown = [...recent, ...others.map((session) => ({ id: session.id, title: titleOfSession(session) }))];
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
              <LastMessage text={known.get(id)?.lastTask?.text} />
            </PageLink>
          </li>
        ))}
      </ul>
      <PageLink className={classes['all'] ?? ''} href="/sessions">
        All sessions
      </PageLink>
      {data !== undefined && shown.length === 0 ? <p className="faint">Conversations appear here once a person wrote in them.</p> : null}
    </nav>
  );
}

/** Who wrote last, else its id. */
function titleOfSession({ id, lastTask }: SessionSummary): string {
  return lastTask?.userName ?? lastTask?.user ?? id;
}

function LastMessage({ text = '' }: { text: string | undefined }): ReactElement | null {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line === '' ? null : <span className={`faint ${classes['last']}`}>{line}</span>;
}

function stateText(session: SessionSummary | undefined): string {
  if (session === undefined) return 'quiet';
  const { holder, waitingTotal } = session;
  const parts = [
    originText(session),
    holder === null ? null : holder.startedAt === null ? 'waits' : 'runs',
    waitingTotal === 0 ? null : `${waitingTotal} waiting`,
  ];
  return parts.filter((part) => part !== null).join(' · ');
}

interface RecentChat {
  /** The id of the session. */
  id: string;
  /** Its first words. */
  title: string;
}

const MAX_CHATS = 30;
const TITLE_CHARACTERS = 60;
const chatsSchema = z.array(z.object({ id: z.string(), title: z.string() })).catch([]);

const SHOWN = 100;

/** The conversations started in this browser, newest first. */
export function readRecentChats(tenant: string): RecentChat[] {
  try {
    return chatsSchema.parse(JSON.parse(window.localStorage.getItem(storageKey(tenant)) ?? '[]'));
  } catch {
    // The text is not ours, or the browser stores nothing.
    return [];
  }
}

/** Stores a conversation under its first words. Later messages do not rename it. */
export function addRecentChat(tenant: string, id: string, text: string): void {
  const known = readRecentChats(tenant);
  if (known.some((chat) => chat.id === id)) return;
  const chats = [{ id, title: titleOf(text) }, ...known].slice(0, MAX_CHATS);
  try {
    window.localStorage.setItem(storageKey(tenant), JSON.stringify(chats));
  } catch {
    // Only the title in the list is lost.
  }
}

function titleOf(text: string): string {
  const characters = Array.from(text.replaceAll(/\s+/g, ' ').trim());
  return characters.length <= TITLE_CHARACTERS ? characters.join('') : `${characters.slice(0, TITLE_CHARACTERS - 1).join('')}…`;
}

function storageKey(tenant: string): string {
  return `muster:chats:${tenant}`;
}
