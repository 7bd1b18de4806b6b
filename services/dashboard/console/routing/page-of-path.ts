import type { TaskRef } from '../api/records.ts';

export type Page =
  | { name: 'overview' }
  | { name: 'chat'; session: string | null }
  | { name: 'schedules' }
  | { name: 'task'; id: string }
  | { name: 'unknown' };

const TASK = /^\/tasks\/([^/]+)\/?$/;
const SESSION = /^\/sessions\/([^/]+)\/?$/;

/** The page at an address. */
export function pageOfPath(path: string): Page {
  if (path === '/') return { name: 'overview' };
  if (path === '/chat') return { name: 'chat', session: null };
  if (path === '/schedules') return { name: 'schedules' };
  const task = decode(TASK.exec(path)?.[1]);
  if (task !== null) return { name: 'task', id: task };
  const session = decode(SESSION.exec(path)?.[1]);
  return session === null ? { name: 'unknown' } : { name: 'chat', session };
}

/** The address of a conversation; session ids may hold any character. Chat platforms use the addresses below `/chat`. */
export function sessionPath(session: string): string {
  return `/sessions/${encodeURIComponent(session)}`;
}

function decode(part: string | undefined): string | null {
  if (part === undefined) return null;
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}

/** The address of a task's page, with the tenant unless it is the person's own. */
export function taskPath({ id, tenant }: TaskRef): string {
  return `/tasks/${encodeURIComponent(id)}${tenant === null ? '' : `?tenant=${encodeURIComponent(tenant)}`}`;
}
