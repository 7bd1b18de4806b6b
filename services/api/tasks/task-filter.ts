import { z } from 'zod';
import { agentIdSchema, SOURCES } from '#shared/config/index.ts';
import type { TaskFilter } from '#shared/ledger/index.ts';
import { TASK_STATUSES } from '#shared/tasks/index.ts';
import { instantSchema } from '#shared/time/index.ts';
import { taskStatusSchema } from './task-view.ts';

const text = z.string().min(1).max(200);
const MAX_PAIRS = 5;

/** `status=failed,timeout`, or `status=failed&status=timeout`. */
const statusesSchema = z
  .union([z.string(), z.array(z.string()).max(TASK_STATUSES.length)])
  .transform((given) => (typeof given === 'string' ? [given] : given).flatMap((each) => each.split(',')))
  .pipe(z.array(taskStatusSchema))
  .meta({ description: `One or several of ${TASK_STATUSES.join(', ')}; several are separated by commas, or repeated.` });

const pairSchema = z
  .string()
  .max(400)
  .regex(/^[^:]+:/, 'expected key:value');

/** `metadata=customer:42`, also repeated. */
const metadataSchema = z
  .union([pairSchema, z.array(pairSchema).max(MAX_PAIRS)])
  .transform((given) => (typeof given === 'string' ? [given] : given).map((pair) => pairOf(pair)))
  .meta({ description: 'A field of its metadata, `key:value`; `key:` for any value. Several, which all have to be there, are repeated.' });

function pairOf(pair: string): { key: string; value: string } {
  const end = pair.indexOf(':');
  return { key: pair.slice(0, end), value: pair.slice(end + 1) };
}

/** What tasks are selected by, besides their status, also for an action on many. */
export const taskFilterFields = {
  agent: agentIdSchema.optional().meta({ description: 'Run by this agent.' }),
  source: z.enum(SOURCES).optional().meta({ description: 'From this source.' }),
  session: text.optional().meta({ description: 'Of this session.' }),
  schedule: text.optional().meta({ description: 'Made by this schedule.' }),
  correlation: text.optional().meta({ description: 'With this correlation id.' }),
  parent: text.optional().meta({ description: 'Delegated by this task.' }),
  sourceId: text.optional().meta({ description: 'Made by this trigger, hook or schedule.' }),
  code: text.optional().meta({ description: 'Whose last attempt failed with this code.' }),
  since: instantSchema.optional().meta({ description: 'Accepted at or after.' }),
  until: instantSchema.optional().meta({ description: 'Accepted before.' }),
  q: text.optional().meta({ description: 'Text in the input, output, id, session or error.' }),
  worker: text.optional().meta({ description: 'Whose last attempt this worker ran.' }),
  release: text.optional().meta({ description: 'Whose last attempt a worker of this release ran.' }),
  metadata: metadataSchema.optional(),
};

/** The filter in the query of a list. */
export const taskFilterQuery = {
  status: statusesSchema.optional(),
  skipped: z
    .stringbool()
    .optional()
    .meta({ description: 'Whether skipped occurrences are among them; by default only when `status` names them.' }),
  ...taskFilterFields,
};

const querySchema = z.object(taskFilterQuery);

export function filterOf({ since, until, skipped = false, ...rest }: z.infer<typeof querySchema>): TaskFilter {
  const filter: TaskFilter = { skipped };
  if (since !== undefined) filter.since = Date.parse(since);
  if (until !== undefined) filter.until = Date.parse(until);
  return Object.assign(filter, rest);
}
