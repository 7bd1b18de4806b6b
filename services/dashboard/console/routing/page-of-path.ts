export type Page =
  | { name: 'overview' }
  | { name: 'chat'; session: string | null }
  | { name: 'schedules' }
  | { name: 'task'; id: string }
  | { name: 'unknown' };

const TASK = /^\/tasks\/([^/]+)\/?$/;
const SESSION = /^\/sessions\/([^/]+)\/?$/;

/** Which page an address shows. */
export function pageOfPath(path: string): Page {
  if (path === '/') return { name: 'overview' };
  if (path === '/chat') return { name: 'chat', session: null };
  if (path === '/schedules') return { name: 'schedules' };
  const task = decode(TASK.exec(path)?.[1]);
  if (task !== null) return { name: 'task', id: task };
  const session = decode(SESSION.exec(path)?.[1]);
  return session === null ? { name: 'unknown' } : { name: 'chat', session };
}

/** The address of a session's conversation; ids of sessions may hold any character. Not below `/chat`, where chat platforms post to. */
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
