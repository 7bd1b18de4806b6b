import { z } from 'zod';
import { streamSchema } from '#shared/http/index.ts';
import { LOG_LEVELS } from '#shared/ledger/index.ts';
import { progressViewSchema } from './attempt-view.ts';
import { instant, jsonSchema, taskStatusSchema } from './task-view.ts';

/** Text that an agent wrote, in a stream. */
export const outputFields = {
  attempt: z.int().meta({ description: 'In which attempt. A later one starts over.' }),
  seq: z.int().meta({ description: 'Grows within one run of an attempt; 0 for all of the output of a task that ended long ago.' }),
  text: z.string().meta({ description: 'What comes next.' }),
};

const logEventSchema = z
  .strictObject({
    at: instant('When.'),
    attempt: z.int().meta({ description: 'In which attempt.' }),
    level: z.enum(LOG_LEVELS).meta({ description: 'How important.' }),
    text: z.string(),
    fields: jsonSchema.nullable().meta({ description: 'Data beside the text.' }),
  })
  .meta({ id: 'LogEvent' });

/** The events of `GET /v1/tasks/:id/stream`. */
export const taskStreamSchema = streamSchema('TaskStreamEvent', {
  output: z.strictObject(outputFields).meta({ id: 'OutputEvent' }),
  log: logEventSchema,
  progress: progressViewSchema,
  status: z.strictObject({ status: taskStatusSchema }).meta({ id: 'StatusEvent' }),
  end: z.strictObject({ status: taskStatusSchema }).meta({ id: 'EndEvent', description: 'The last event: the task has ended.' }),
});
