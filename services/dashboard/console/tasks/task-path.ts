import type { TaskPlace } from '../api/tasks.ts';

/** The address of a task's page; of another tenant's it has the tenant. */
export function taskPath({ id, tenant }: TaskPlace): string {
  return `/tasks/${encodeURIComponent(id)}${tenant === null ? '' : `?tenant=${encodeURIComponent(tenant)}`}`;
}
