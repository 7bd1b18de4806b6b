import type { Task } from '#shared/client/openapi.gen.ts';

/** Names a task; `tenant` is null for the person's own tenant. */
export interface TaskRef {
  readonly id: string;
  readonly tenant: string | null;
}

/** Addresses a task in calls of the API. An operator of the installation may read the tasks of every tenant. */
export function toTask({ id, tenant }: TaskRef): { params: { path: { id: string } }; headers: Record<string, string> } {
  return { params: { path: { id } }, headers: tenant === null ? {} : { 'Muster-Tenant': tenant } };
}

/** The address of a task, for links and streams. */
export const taskApiPath = ({ id }: Pick<TaskRef, 'id'>): string => `/v1/tasks/${encodeURIComponent(id)}`;

/** A file of a new task or message: an upload, which several tasks may have, or what is fetched from an address. */
export interface GivenFile {
  name: string;
  mediaType: string;
  uploadId?: string;
  url?: string;
}

/** The files of a task, for another one. */
export function givenFiles({ attachments }: Pick<Task, 'attachments'>): GivenFile[] {
  return attachments.flatMap(({ name, mediaType, uploadId, url }): GivenFile[] => {
    if (uploadId) return [{ name, mediaType, uploadId }];
    return url ? [{ name, mediaType, url }] : [];
  });
}
