import type { SessionStreamEvent, TaskStreamEvent, Upload } from '#shared/client/openapi.gen.ts';

// What is not read by the client of the API. The server's tests hold it to its documentation, and a page is of the same release, so nothing is
// checked here again.

export const parseUpload = (json: string): Upload => JSON.parse(json) as Upload;

/** An event of a task's stream, by its name and its data as they came. */
export const parseTaskEvent = (event: string, data: string): TaskStreamEvent =>
  ({ event, data: JSON.parse(data) as unknown }) as TaskStreamEvent;

/** An event of a session's stream. */
export const parseSessionEvent = (event: string, data: string): SessionStreamEvent =>
  ({ event, data: JSON.parse(data) as unknown }) as SessionStreamEvent;
