import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import { readTasks } from '#shared/ledger/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { readTranscript } from '#shared/sessions/index.ts';
import { toIso } from '#shared/time/index.ts';
import { sessionPathSchema } from './session-path.ts';

const turnSchema = z
  .strictObject({ taskId: z.string(), input: z.string(), output: z.string(), completedAt: z.iso.datetime().nullable() })
  .meta({ id: 'Turn' });

/** `GET /v1/sessions/:id/transcript`. */
export function getTranscript({ ledger }: Parts): Route {
  return route({
    method: 'get',
    path: '/v1/sessions/:id/transcript',
    summary: 'What was said in a session, as its agents are given it',
    description: 'Oldest first, bounded by `sessions.transcriptTurns` and `transcriptBytes`, from where `/new` began it last.',
    scope: 'read',
    forVisitors: true,
    request: { params: sessionPathSchema },
    responses: { 200: z.strictObject({ items: z.array(turnSchema), nextCursor: z.null() }) },
    handle: async ({ params: { id } }, { tenant }) => {
      const turns = await readTranscript(ledger, tenant, id);
      const ids = turns.map(({ taskId }) => taskId);
      const tasks = await readTasks(ledger, tenant, ids);
      const items = turns.map(({ taskId, input, output }, position) => ({
        taskId,
        input,
        output,
        completedAt: toIso(tasks[position]?.state.completedAt),
      }));
      return { status: 200, body: { items, nextCursor: null } };
    },
  });
}
