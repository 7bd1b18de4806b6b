import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import type { FileLinks } from '#shared/files/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import { keepCheckpoint, type Ledger } from '#shared/ledger/index.ts';
import { taskPathSchema } from '../find-tasks.ts';

interface CheckpointPorts {
  readonly ledger: Ledger;
  readonly fileLinks: Pick<FileLinks, 'verify'>;
}

const headersSchema = z.object({
  'muster-attempt-key': z.string().max(4000).meta({
    description: 'What the call of the agent had in this header, or a program in `MUSTER_ATTEMPT_KEY`: the key of its attempt alone.',
  }),
});

const bodySchema = z
  .strictObject({
    checkpoint: z.unknown().meta({
      description:
        'A text, or JSON; with `suspend` (`{ untilMs }`, `{ event, match, timeoutMs }` or `{ ask: { question, choices, ... } }`) the run waits without a slot once its agent has answered.',
    }),
  })
  .meta({ id: 'CheckpointRequest', examples: [{ checkpoint: { page: 4, suspend: { untilMs: 1_777_626_000_000 } } }] });

/** `POST /v1/tasks/:id/checkpoint`: what a running attempt leaves for the next one. */
export function postCheckpoint({ ledger, fileLinks }: CheckpointPorts): Route {
  return route({
    method: 'post',
    path: '/v1/tasks/:id/checkpoint',
    operationId: 'keepCheckpoint',
    summary: 'Keep what a running attempt leaves for the next one',
    description:
      'For agents behind HTTP, and programs, with the key of the attempt alone. 409 `checkpoint.attempt-over` once the attempt has ended.',
    scope: 'none',
    errors: ['checkpoint.key-invalid', 'checkpoint.attempt-over', 'checkpoint.too-large'],
    request: { params: taskPathSchema, headers: headersSchema, body: bodySchema },
    responses: { 204: z.null() },
    handle: async ({ params: { id }, headers, body: { checkpoint } }) => {
      const key = await fileLinks.verify(headers['muster-attempt-key'], Date.now());
      if (key?.may !== 'checkpoint' || key.task !== id)
        throw new MusterError('checkpoint.key-invalid', 'The key in muster-attempt-key is of no attempt of this task, or has expired');
      const text = typeof checkpoint === 'string' ? checkpoint : JSON.stringify(checkpoint ?? null);
      const isKept = await keepCheckpoint(ledger, { tenant: key.tenant, id, lease: key.lease }, text);
      if (!isKept) throw new MusterError('checkpoint.attempt-over', 'The attempt of this key has ended');
      return { status: 204 };
    },
  });
}
