import type { TaskRef } from '../api/task-ref.ts';

/** The address of a conversation; session ids may hold any character. Chat platforms use the addresses below `/chat`. */
export function sessionPath(session: string): string {
  return `/sessions/${encodeURIComponent(session)}`;
}

/** The address of a task's page, with the tenant unless it is the person's own. */
export function taskPath({ id, tenant }: TaskRef): string {
  return `/tasks/${encodeURIComponent(id)}${tenant === null ? '' : `?tenant=${encodeURIComponent(tenant)}`}`;
}

/** Senders post to `/hooks/<id>`. */
export function hookPath(id: string): string {
  return `/hook/${encodeURIComponent(id)}`;
}

export function agentPath(id: string): string {
  return `/agents/${encodeURIComponent(id)}`;
}
