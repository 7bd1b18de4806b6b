import { z } from 'zod';
import { readLog } from '#shared/ledger/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { findState, taskPathSchema } from './find-task.ts';
import { logEntryView, logEntryViewSchema } from './log-entry-view.ts';

/** `GET /v1/tasks/:id/log`: what its agent reported beside its output, first to last. */
export function getLog(parts: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/tasks/:id/log',
    summary: 'What the agent of a task logged, and how far it said it was',
    description:
      'What the agent reported by `context.log` (`info` and up) and `context.progress`: the latest entries, bounded by `tasks.maxLogEntries`, and kept for `tasks.logRetentionMs` after the last one.',
    scope: 'read',
    request: { params: taskPathSchema },
    responses: { 200: z.strictObject({ items: z.array(logEntryViewSchema), nextCursor: z.null() }) },
    handle: async ({ params }, { tenant }) => {
      await findState(parts.ledger, tenant, params.id);
      const limit = parts.config.settings.tasks.maxLogEntries;
      const entries = await readLog(parts, { tenant, id: params.id, after: null, limit });
      return { status: 200, body: { items: entries.map((entry) => logEntryView(entry)), nextCursor: null } };
    },
  });
}
