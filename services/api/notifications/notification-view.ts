import { z } from 'zod';
import { streamSchema } from '#shared/http/index.ts';
import { itemSchema } from '../fleet/attention-item.ts';
import { pressureFields } from '../tasks/pressure-view.ts';

const at = z.iso.datetime().meta({ description: 'When it happened.' });
const text = z.string().nullable();
const count = z.int();

/** The task of a notification, by the names that people know; absent once its record is no longer kept. */
const subject = {
  taskId: z.string(),
  agent: z.string().optional(),
  session: text.optional(),
  source: z.string().optional().meta({ description: 'Where it came from.' }),
  scheduleId: text.optional(),
  number: z.int().nullable().optional().meta({ description: 'Of its schedule.' }),
  name: text.optional().meta({ description: 'Of its schedule.' }),
  attempt: z.int().optional().meta({ description: 'In which attempt.' }),
  code: text.optional(),
  willRetry: z.boolean().optional().meta({ description: 'Of a failure: whether it is tried again.' }),
};

const runSchema = z
  .looseObject({
    ...subject,
    kind: z.enum(['run.started', 'run.completed', 'run.failed', 'run.skipped']),
    at,
    runId: z.string().meta({ description: 'The task of the run.' }),
    occurrence: text.meta({ description: 'When it was due.' }),
    status: z.string(),
    startedAt: text,
    completedAt: text,
    reason: text.optional(),
    resultSummary: text.optional(),
    inputTokens: z.number().nullable().optional(),
    outputTokens: z.number().nullable().optional(),
    error: z.strictObject({ code: z.string(), message: z.string() }).nullable().optional(),
  })
  .meta({ id: 'RunNotification' });

const taskSchema = z
  .looseObject({ ...subject, kind: z.string().regex(/^task\.[a-z_.-]+$/), at, reason: text.optional() })
  .meta({ id: 'TaskNotification', description: 'A step of a task. Some kinds have fields of their own.' });

const scheduleSchema = z
  .looseObject({
    kind: z.string().regex(/^schedule\.[a-z_.-]+$/),
    at,
    scheduleId: text,
    number: z.int().nullable().meta({ description: 'What people call it.' }),
    name: text,
    agent: text,
    session: text,
    reason: text,
  })
  .meta({ id: 'ScheduleNotification' });

const budgetSchema = z
  .looseObject({
    kind: z.enum(['budget.warning', 'budget.exceeded']),
    at,
    budget: z.string().meta({ description: 'Its id.' }),
    scope: z.string().meta({ description: 'What it bounds.' }),
    of: text.meta({ description: 'Which one of these.' }),
    per: z.string().meta({ description: 'Its window.' }),
    spentMicroUsd: z.number().meta({ description: 'What was spent in its window, in millionths of a dollar.' }),
    softMicroUsd: z.number().nullable().meta({ description: 'Its soft line; null for none.' }),
    hardMicroUsd: z.number().nullable().meta({ description: 'Its hard line; null for none.' }),
    atHard: z.string().meta({ description: 'What is done at its hard line.' }),
    until: text.meta({ description: 'When its window ends; null for never.' }),
  })
  .meta({ id: 'BudgetNotification' });

const actionSchema = z
  .looseObject({
    kind: z.string().regex(/^action\.[a-z_.-]+$/),
    at,
    actionId: z.string().meta({ description: 'The action.' }),
    action: z.string().meta({ description: 'What is done to the tasks.' }),
    status: z.string(),
    matched: count.meta({ description: 'Tasks that it found.' }),
    done: count.meta({ description: 'Of them, those that were changed.' }),
    skipped: count.meta({ description: 'Those that it does not apply to.' }),
    failed: count.meta({ description: 'Those that could not be changed.' }),
  })
  .meta({ id: 'ActionNotification' });

/** What is asked, as far as it is kept. */
const askedFields = {
  questionId: z.string().meta({ description: 'The question.' }),
  question: z.string().optional().meta({ description: 'What is asked; absent once it is no longer kept.' }),
  choices: z.array(z.string()).nullable().optional().meta({ description: 'What the answer is one of.' }),
};
const askedAt = z.iso.datetime().meta({ description: 'When it was asked.' });

const questionSchema = z
  .looseObject({
    ...subject,
    kind: z.enum(['question.opened', 'question.reminded', 'question.answered']),
    at,
    ...askedFields,
    answeredBy: z.string().optional().meta({ description: 'Who answered.' }),
    askedAt: askedAt.optional(),
    expiresAt: text.optional(),
  })
  .meta({ id: 'QuestionNotification', description: 'A run asks people, its question is still open, or somebody answered it.' });

const digestSchema = z
  .looseObject({
    kind: z.literal('question.digest'),
    at,
    open: count.meta({ description: 'Questions that are open.' }),
    questions: z
      .array(z.looseObject({ ...askedFields, taskId: z.string(), agent: z.string(), session: text, askedAt, expiresAt: text }))
      .meta({ description: 'The oldest of them.' }),
  })
  .meta({ id: 'QuestionDigestNotification', description: 'Once a day: what is open.' });

const agentSchema = z
  .looseObject({ kind: z.literal('agent.held'), at, agent: z.string(), failures: count, code: z.string(), taskId: z.string() })
  .meta({ id: 'AgentNotification', description: 'An agent failed too often in a row, and its tasks are held.' });

const daemonSchema = z
  .looseObject({
    kind: z.enum(['daemon.connected', 'daemon.disconnected']),
    at,
    daemon: z.string().meta({ description: 'Its id.' }),
    name: z.string(),
    user: text.meta({ description: 'Only tasks of this user reach it; null for tasks of all.' }),
  })
  .meta({ id: 'DaemonNotification' });

const circuitSchema = z
  .looseObject({
    kind: z.enum(['circuit.opened', 'circuit.closed']),
    at,
    agent: z.string(),
    endpoint: z.string().meta({ description: 'Whose calls fail, or answer again.' }),
    failures: count.optional(),
    reason: text.optional(),
  })
  .meta({ id: 'CircuitNotification' });

const shed = z
  .array(
    z.strictObject({
      source: z.string().meta({ description: 'Where they came from.' }),
      band: z.string().optional().meta({ description: 'Of their priority.' }),
      count,
    }),
  )
  .meta({ description: 'Tasks refused since the pressure began.' });
const level = z.enum(['none', 'warning', 'critical']).meta({ description: 'How much.' });

const pressureSchema = z
  .looseObject({
    kind: z.enum(['backpressure.warning', 'backpressure.critical', 'backpressure.shed', 'backpressure.cleared']),
    at,
    ...pressureFields,
    level,
    shed,
  })
  .meta({ id: 'PressureNotification' });

const finding = itemSchema.omit({ scope: true, acknowledged: true }).meta({ description: 'As `GET /v1/attention` has it.' });

const findingSchema = z
  .looseObject({ kind: z.enum(['finding.opened', 'finding.resolved']), at, finding })
  .meta({ id: 'FindingNotification' });

const fleetSchema = z
  .looseObject({
    kind: z.string().regex(/^fleet\.[a-z_.-]+$/),
    at,
    worker: text.meta({ description: 'The worker that it is about.' }),
    queue: text.meta({ description: 'The queue that it is about.' }),
    reason: text,
    finding: finding.optional(),
  })
  .meta({
    id: 'FleetNotification',
    description: 'For operators of tenant `default`. Kinds about its load have the fields of one of a tenant.',
  });

const notificationSchema = z
  .union([
    runSchema,
    taskSchema,
    scheduleSchema,
    budgetSchema,
    actionSchema,
    questionSchema,
    digestSchema,
    agentSchema,
    daemonSchema,
    circuitSchema,
    pressureSchema,
    findingSchema,
    fleetSchema,
  ])
  .meta({ id: 'Notification', description: 'What happened. Further fields may come.' });

/** The events of `GET /v1/notifications/stream`. */
export const notificationStreamSchema = streamSchema('NotificationStreamEvent', {
  open: z.strictObject({ ok: z.literal(true).meta({ description: 'It is open.' }) }).meta({ id: 'OpenEvent' }),
  notification: notificationSchema,
  gap: z
    .strictObject({
      from: z.string().meta({ description: 'Up to where the reader had read.' }),
      oldest: z.string().meta({ description: 'The oldest that is kept.' }),
    })
    .meta({ id: 'GapEvent', description: 'Notifications may be lost; `GET /v1/runs?since=` has the runs.' }),
});
