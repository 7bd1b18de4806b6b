import { z } from 'zod';
import { actorKinds } from '#shared/audit/index.ts';
import { pageLimitSchema, route, type Route } from '#shared/http/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import {
  answererOf,
  answerQuestion,
  findQuestion,
  listQuestions,
  QUESTION_ID,
  QUESTION_STATUSES,
  questionsOfTask,
  questionView,
} from '#shared/waits/index.ts';
import { TASK_ID } from '#shared/tasks/index.ts';
import { answerList, cursorSchema, nextCursorSchema } from '../lists.ts';
import { findTask } from './find-tasks.ts';

const EXAMPLE = {
  id: '01KQS1C8ZV0G3P5T7W9X1Y2Z3A.3.5f1d7a20',
  taskId: '01KQS1C8ZV0G3P5T7W9X1Y2Z3A',
  agent: 'release',
  session: 'releases',
  question: 'Publish 1.4.0?',
  choices: ['yes', 'no'],
  schema: null,
  to: ['anna@example.com'],
  by: 'others' as const,
  status: 'open' as const,
  answer: null,
  answeredBy: null,
  answeredAt: null,
  askedAt: '2026-05-01T09:00:00.000Z',
  expiresAt: '2026-05-08T09:00:00.000Z',
};

const questionSchema = z
  .strictObject({
    id: z.string().meta({ description: 'Another for anything else that is asked: an answer is for what was shown.' }),
    taskId: z.string().meta({ description: 'The task that waits for the answer.' }),
    agent: z.string().meta({ description: 'Who asks.' }),
    session: z.string().nullable().meta({ description: 'The conversation in which the task is a turn.' }),
    question: z.string().meta({ description: 'For people.' }),
    choices: z.array(z.string()).nullable().meta({ description: 'What the answer is one of; null for one that is answered otherwise.' }),
    schema: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: 'JSON Schema of the answer. Null for a choice or, where there are none, a text.' }),
    to: z.array(z.string()).nullable().meta({ description: 'Who may answer; null for everyone with the scope, but no visitor.' }),
    by: z.enum(['anyone', 'others']).meta({ description: 'With `others` whoever sent the task may not answer.' }),
    status: z.enum(QUESTION_STATUSES).meta({ description: '`expired`: nobody answered in time, `withdrawn`: its task ended before.' }),
    answer: z.unknown().meta({ description: 'What was answered; of an expired one its default. Null for none.' }),
    answeredBy: z
      .strictObject({
        kind: z.enum(actorKinds).meta({ description: 'Of which sort.' }),
        id: z.string().meta({ description: 'Of the key, or the person.' }),
        name: z.string().meta({ description: 'For people.' }),
      })
      .nullable()
      .meta({ description: 'Who answered; null for nobody.' }),
    answeredAt: z.iso.datetime().nullable().meta({ description: 'When somebody answered.' }),
    askedAt: z.iso.datetime().meta({ description: 'When the run came to it.' }),
    expiresAt: z.iso.datetime().nullable().meta({ description: 'Until when it can be answered.' }),
  })
  .meta({ id: 'Question', examples: [EXAMPLE] });

const pageSchema = z.strictObject({ items: z.array(questionSchema), nextCursor: nextCursorSchema }).meta({ id: 'QuestionList' });

/** Strict, because a filter with a typing error would otherwise find everything. */
const querySchema = z.strictObject({
  status: z.enum(QUESTION_STATUSES).optional().meta({ description: 'Only those that stand so.' }),
  taskId: z.string().regex(TASK_ID, "expected a task's id").optional().meta({ description: 'Only those of this task.' }),
  limit: pageLimitSchema,
  cursor: cursorSchema(QUESTION_ID),
});

const pathSchema = z.object({ id: z.string().meta({ description: "The question's id." }) });

const answerSchema = z
  .strictObject({ answer: z.unknown().meta({ description: 'One of the choices, what fits the schema, or else a text.' }) })
  .meta({ id: 'QuestionAnswer', examples: [{ answer: 'yes' }] });

interface QuestionPorts {
  readonly ledger: Ledger;
}

/** `/v1/questions`: what runs ask people. */
export function questionRoutes(ports: QuestionPorts): Route[] {
  return [getQuestions(ports), getQuestion(ports), postAnswer(ports)];
}

/** `GET /v1/questions`, newest task first. A page may be short, even empty, while `nextCursor` says that there is more. */
function getQuestions({ ledger }: QuestionPorts): Route {
  return route({
    method: 'get',
    path: '/v1/questions',
    operationId: 'listQuestions',
    summary: 'List questions, newest task first',
    description:
      'What runs ask people by `context.ask`, kept as long as their tasks. With `taskId` the list has one page, in the order of the run.',
    scope: 'read',
    errors: ['task.not-found', 'unavailable.files'],
    request: { query: querySchema },
    responses: { 200: pageSchema },
    handle: async ({ query: { status, taskId, limit, cursor } }, { tenant }) => {
      if (taskId !== undefined) {
        const own = await questionsOfTask(ledger, await findTask(ledger, tenant, taskId));
        return answerList(own.filter((question) => status === undefined || question.status === status).map(questionView));
      }
      const { items, next } = await listQuestions(ledger, tenant, status, { limit, before: cursor });
      return answerList(items.map(questionView), { next });
    },
  });
}

/** `GET /v1/questions/:id`. */
function getQuestion({ ledger }: QuestionPorts): Route {
  return route({
    method: 'get',
    path: '/v1/questions/:id',
    operationId: 'getQuestion',
    summary: 'One question',
    scope: 'read',
    errors: ['question.not-found'],
    request: { params: pathSchema },
    responses: { 200: questionSchema },
    handle: async ({ params: { id } }, { tenant }) => ({ status: 200, body: questionView(await findQuestion(ledger, tenant, id)) }),
  });
}

/** `POST /v1/questions/:id/answer`: the first answer resumes the run. */
function postAnswer({ ledger }: QuestionPorts): Route {
  return route({
    method: 'post',
    path: '/v1/questions/:id/answer',
    operationId: 'answerQuestion',
    summary: 'Answer a question',
    description:
      'The run goes on with the first answer; further ones are refused with `question.answered`. An answer that does not fit is refused with `question.invalid`, and the question stays open.',
    scope: 'answer',
    errors: ['question.not-found', 'question.answered', 'question.closed', 'question.forbidden', 'question.invalid'],
    request: { params: pathSchema, body: answerSchema },
    responses: { 200: questionSchema },
    handle: async ({ params: { id }, body: { answer } }, { tenant, key }) => {
      if (key === null) throw new Error('A route with a scope has a key');
      return { status: 200, body: questionView(await answerQuestion(ledger, tenant, { id, answer: answer ?? null, by: answererOf(key) })) };
    },
  });
}
