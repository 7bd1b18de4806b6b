import { z } from 'zod';
import { streamSchema } from '#shared/http/index.ts';
import { QUESTION_STATUSES } from '#shared/waits/index.ts';
import { outputFields } from '../tasks/stream-events.ts';
import { instant, outcomeSchema, taskStatusSchema } from '../tasks/task-view.ts';

const fileSchema = z
  .strictObject({
    name: z.string().meta({ description: 'Unique among those of its message.' }),
    mediaType: z.string().meta({ description: 'What its sender said that it is.' }),
    bytes: z.int().nullable().meta({ description: 'Null for one that is fetched from an address.' }),
  })
  .meta({ id: 'TurnFile' });

const taskId = z.string().meta({ description: 'The task of the message.' });
const status = taskStatusSchema;
const outcome = outcomeSchema.nullable().meta({ description: 'What became of it, when that says more than its status.' });
const error = z.strictObject({ code: z.string(), message: z.string() }).nullable().meta({ description: 'Why its last attempt failed.' });
const artifacts = z.array(fileSchema).meta({ description: 'Files that it made.' });

const messageFields = {
  taskId,
  text: z.string().meta({ description: 'What was written.' }),
  user: z.string().nullable().meta({ description: 'Who wrote it.' }),
  agent: z.string(),
  status,
  createdAt: instant('When it was accepted.').nullable(),
  attachments: z.array(fileSchema).meta({ description: 'Files that it came with.' }),
};

const endedSchema = z
  .strictObject({
    ...messageFields,
    outcome,
    output: z.string().nullable().meta({ description: 'The answer; of a stopped message what was written, while that is kept.' }),
    error,
    completedAt: instant('When it ended.').nullable(),
    artifacts,
  })
  .meta({ id: 'EndedTurn', description: 'A message that has its outcome.' });

/** The events of `GET /v1/sessions/:id/stream`. */
export const sessionStreamSchema = streamSchema('SessionStreamEvent', {
  history: z.strictObject({ items: z.array(endedSchema).meta({ description: 'Oldest first.' }) }).meta({ id: 'HistoryEvent' }),
  message: z.strictObject(messageFields).meta({ id: 'MessageEvent' }),
  output: z.strictObject({ taskId, ...outputFields }).meta({ id: 'SessionOutputEvent' }),
  status: z.strictObject({ taskId, status, outcome }).meta({ id: 'SessionStatusEvent' }),
  question: z
    .strictObject({
      taskId,
      id: z.string().meta({ description: 'The question.' }),
      question: z.string().meta({ description: 'For people.' }),
      choices: z.array(z.string()).nullable().meta({ description: 'What the answer is one of.' }),
      schema: z
        .record(z.string(), z.unknown())
        .nullable()
        .meta({ description: 'JSON Schema of an answer that is no choice; null for a text.' }),
      status: z.enum(QUESTION_STATUSES),
      answer: z.unknown().meta({ description: 'Null while there is none.' }),
      expiresAt: instant('Until when it is open.').nullable(),
    })
    .meta({ id: 'SessionQuestionEvent', description: 'The session is asked, or a question that it was asked has ended.' }),
  end: z
    .strictObject({ taskId, status, output: z.string().nullable(), outcome, error, artifacts })
    .meta({ id: 'SessionEndEvent', description: 'The message has its outcome.' }),
});
