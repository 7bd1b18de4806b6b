import { z } from 'zod';
import { type Erasure, ERASURE_KINDS, ErasureStore } from '#shared/actions/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { type Answer, type Call, route, type Route } from '#shared/http/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import { DEFAULT_TENANT } from '#shared/tenants/index.ts';
import { toIso, wait } from '#shared/time/index.ts';
import { sessionPathSchema } from '../sessions/sessions.ts';

interface ErasurePorts {
  readonly ledger: Ledger;
}

/** Removing what is of a session or of a person, for good. */
export function erasureRoutes(ports: ErasurePorts): Route[] {
  return [deleteSession(ports), deletePerson(ports), getErasure(ports)];
}

/** How long a call waits for the end of what it began, and looks at it. */
const WAIT_MS = 5000;
const LOOK_MS = 100;
const BACKUPS = 'Backups that were made before keep it until they are deleted.';

const countSchema = (description: string): z.ZodInt => z.int().meta({ description });

const erasureSchema = z
  .strictObject({
    id: z.string().meta({ description: "The erasure's id; sorts by time." }),
    kind: z.enum(ERASURE_KINDS).meta({ description: 'Whose data.' }),
    status: z.enum(['running', 'completed']).meta({ description: 'Whether all of it is gone.' }),
    stopping: countSchema('Running tasks that it waits for: they were told to stop.'),
    removed: z
      .strictObject({
        tasks: countSchema('Tasks with input, output, attempts, journal, checkpoint and questions.'),
        files: countSchema('Files that came with these, were made by them, or were kept for the next run.'),
        deliveries: countSchema('Replies, callbacks and questions on their way out, or sent.'),
        notifications: countSchema('Events that named these tasks.'),
        webhooks: countSchema('Bodies of webhooks that made these tasks.'),
        sessions: countSchema('Sessions with their choices and what programs kept of them.'),
      })
      .meta({ id: 'ErasedCounts', description: 'What was removed; final once it is completed.' }),
    kept: z.string().meta({ description: 'What still has it, for people.' }),
    by: z.string().nullable().meta({ description: 'Id of the key that requested it.' }),
    createdAt: z.iso.datetime(),
    completedAt: z.iso.datetime().nullable(),
  })
  .meta({
    id: 'Erasure',
    examples: [
      {
        id: '01KQS1C8ZV0G3P5T7W9X1Y2Z3A',
        kind: 'session',
        status: 'completed',
        stopping: 0,
        removed: { tasks: 12, files: 3, deliveries: 12, notifications: 48, webhooks: 0, sessions: 1 },
        kept: BACKUPS,
        by: 'k1',
        createdAt: '2026-05-01T09:00:00.000Z',
        completedAt: '2026-05-01T09:00:01.000Z',
      },
    ],
  });

const querySchema = z.strictObject({
  erase: z.enum(['', 'true']).meta({ description: 'Has to be there, as this cannot be undone.' }),
});

const DESCRIPTION =
  'What runs or waits is stopped first, then all is removed: tasks with inputs, outputs, journals and checkpoints, files, deliveries, questions, kept workspaces, bodies of webhooks, notifications. The same call again answers with the same erasure until it has ended. The audit log says that it was done.';

const responses = {
  200: erasureSchema.meta({ description: 'All of it is gone.' }),
  202: erasureSchema.meta({ description: 'A worker goes on with it: read it by its id.' }),
};

/** `DELETE /v1/sessions/:id?erase`. */
function deleteSession({ ledger }: ErasurePorts): Route {
  return route({
    method: 'delete',
    path: '/v1/sessions/:id',
    operationId: 'eraseSession',
    summary: 'Erase a session and all that was said and made in it',
    description: DESCRIPTION,
    scope: 'operate',
    errors: ['limit.actions'],
    request: { params: sessionPathSchema, query: querySchema },
    responses,
    handle: async ({ params: { id } }, call) => await erase(ledger, call, { kind: 'session', of: id }),
  });
}

/** `DELETE /v1/people/:id?erase`. */
function deletePerson({ ledger }: ErasurePorts): Route {
  return route({
    method: 'delete',
    path: '/v1/people/:id',
    operationId: 'erasePerson',
    summary: 'Erase what a person sent to your tenant, and what came of it',
    description: `${DESCRIPTION} All tasks of the tenant are looked at, which takes a while. For keys of \`default\` the sign-in of the person is forgotten too.`,
    scope: 'admin',
    errors: ['limit.actions'],
    request: {
      params: z.object({
        id: z
          .string()
          .min(1)
          .max(200)
          .meta({ description: 'A signed-in person, a visitor, or the `user` of tasks: the id of somebody in a chat.' }),
      }),
      query: querySchema,
    },
    responses,
    handle: async ({ params: { id } }, call) => await erase(ledger, call, { kind: 'person', of: id }),
  });
}

/** `GET /v1/erasures/:id`. */
function getErasure({ ledger }: ErasurePorts): Route {
  return route({
    method: 'get',
    path: '/v1/erasures/:id',
    operationId: 'getErasure',
    summary: 'Read how far an erasure is, and what it removed',
    scope: 'operate',
    errors: ['erasure.not-found'],
    request: { params: z.object({ id: z.string().max(100).meta({ description: "The erasure's id." }) }) },
    responses: { 200: erasureSchema },
    handle: async ({ params: { id } }, { tenant }) => {
      const found = await new ErasureStore(ledger).find(tenant, id);
      if (found === null) throw new MusterError('erasure.not-found', `There is no erasure "${id}"`, { details: { id } });
      return { status: 200, body: viewErasure(found) };
    },
  });
}

async function erase(ledger: Ledger, call: Call, what: { kind: Erasure['kind']; of: string }): Promise<Answer> {
  const { tenant, key } = call;
  const store = new ErasureStore(ledger);
  let erasure = await store.create({ ...what, tenant, by: key?.id ?? null, withSignIn: tenant === DEFAULT_TENANT });
  call.log.info({ event: 'data.erasing', erasure: erasure.id, tenant, kind: what.kind, by: key?.id }, 'data is being erased');
  for (let waitedMs = 0; erasure.completedAt === null && waitedMs < WAIT_MS; waitedMs += LOOK_MS) {
    await wait(LOOK_MS);
    erasure = (await store.find(tenant, erasure.id)) ?? erasure;
  }
  const headers = { Location: `/v1/erasures/${erasure.id}` };
  return { status: erasure.completedAt === null ? 202 : 200, body: viewErasure(erasure), headers };
}

function viewErasure({ id, kind, stopping, removed, by, createdAt, completedAt }: Erasure): z.infer<typeof erasureSchema> {
  return {
    id,
    kind,
    status: completedAt === null ? 'running' : 'completed',
    stopping,
    removed,
    kept: BACKUPS,
    by,
    createdAt: new Date(createdAt).toISOString(),
    completedAt: toIso(completedAt),
  };
}
