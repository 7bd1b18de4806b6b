import { z } from 'zod';
import { QUEUE_MODES } from '#shared/config/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { hintSession, setMode } from '#shared/sessions/index.ts';
import { sessionPathSchema } from './session-path.ts';
import { sessionViewSchema } from './session-view.ts';
import { showSession } from './show-session.ts';

/** `PUT /v1/sessions/:id/mode`. */
export function setSessionMode({ ledger }: Parts): Route {
  return route({
    method: 'put',
    path: '/v1/sessions/:id/mode',
    summary: 'Choose what becomes of messages that meet a running task',
    description: '`default`, or `reset`, takes the choice back. Holds for the next message, at every process.',
    scope: 'submit',
    // Who may write in a session may choose by `/queue` in a message as well.
    forVisitors: true,
    request: { params: sessionPathSchema, body: z.strictObject({ mode: z.enum([...QUEUE_MODES, 'default', 'reset']) }) },
    responses: { 200: sessionViewSchema },
    handle: async ({ params: { id }, body: { mode } }, { tenant }) => {
      await setMode(ledger, tenant, id, mode === 'default' || mode === 'reset' ? null : mode);
      hintSession(ledger, tenant, id);
      return { status: 200, body: await showSession(ledger, tenant, id) };
    },
  });
}
