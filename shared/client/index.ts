/**
 * A client of the HTTP API, for programs that use a fleet: `import { createClient } from 'muster-fleet/client'`. It needs `fetch` and nothing
 * of Node, so it runs in browsers and at the edge too. The types of records are written from the API's own document.
 */
export type { AgentMap, InputOf, ResultOf } from './agent-map.ts';
export { ClientError } from './client-error.ts';
export { type Client, type ClientOptions, createClient, type ManyItem, type ManyResult } from './create-client.ts';
export type { SendOptions } from './send-tasks.ts';
export type { SentTask } from './sent-task.ts';
export type { SentMessage } from './sessions.ts';
export type { TaskEvent } from './task-events.ts';
export { verifyCallback } from './verify-callback.ts';
