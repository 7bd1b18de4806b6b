import { z } from 'zod';
import type { Settings } from '#shared/config/index.ts';
import { readDaemons } from '#shared/daemons/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import { type Ledger, readAttempts, readLog, readProgress } from '#shared/ledger/index.ts';
import { traceIdOf } from '#shared/log/index.ts';
import type { Queues } from '#shared/queue/index.ts';
import type { Keys, RedisClient } from '#shared/redis/index.ts';
import { attemptRecord, parseTimeline, TASK_ID, taskRecord } from '#shared/tasks/index.ts';
import { toIso } from '#shared/time/index.ts';
import { answerList, onePageOf, onePageSchema } from '../lists.ts';
import { getTaskWhy } from './explain-task.ts';
import { type JournalPorts, journalRoutes } from './runs/read-journal.ts';
import { getTree } from './runs/read-tree.ts';
import { findState, findTask, taskNotFound, taskPathSchema } from './find-tasks.ts';
import { attemptViewSchema, logEntryViewSchema, taskWithProgressSchema, viewLogEntry, viewProgress } from './attempt-view.ts';
import { taskStatusSchema } from './task-view.ts';

export interface TaskReadPorts extends JournalPorts {
  readonly ledger: Ledger;
  readonly queues: Queues;
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly config: { readonly settings: Settings };
}

/** Reads of one task, each at a path of its own. */
export function taskReadRoutes(ports: TaskReadPorts): Route[] {
  return [
    getTask(ports),
    getTaskWhy(ports),
    getTaskAttempts(ports),
    getTaskTimeline(ports),
    getTaskLog(ports),
    ...journalRoutes(ports),
    getTree(ports),
  ];
}

/** `GET /v1/tasks/:id`: the record, with the progress that the task reported last. */
function getTask({ ledger, config }: Pick<TaskReadPorts, 'ledger' | 'config'>): Route {
  return route({
    method: 'get',
    path: '/v1/tasks/:id',
    operationId: 'getTask',
    summary: 'Read a task',
    scope: 'read',
    errors: ['task.not-found', 'unavailable.files'],
    request: { params: taskPathSchema },
    responses: { 200: taskWithProgressSchema },
    handle: async ({ params }, { tenant }) => {
      const [task, progress] = await Promise.all([findTask(ledger, tenant, params.id), readProgress(ledger, tenant, params.id)]);
      const traceUrl = traceUrlOf(config.settings, task.body.traceparent);
      return { status: 200, body: { ...taskRecord(task), traceUrl, progress: progress && viewProgress(progress) } };
    },
  });
}

function traceUrlOf({ traces }: Settings, traceparent: string): string | null {
  return traces.url?.replaceAll('{traceId}', traceIdOf(traceparent)) ?? null;
}

const instantSchema = z.iso.datetime();

const attemptListSchema = onePageOf(attemptViewSchema, 'First to last.').meta({ id: 'AttemptList' });

/** `GET /v1/tasks/:id/attempts`, first to last. */
function getTaskAttempts(ports: Pick<TaskReadPorts, 'ledger' | 'redis' | 'keys'>): Route {
  const { ledger } = ports;
  return route({
    method: 'get',
    path: '/v1/tasks/:id/attempts',
    operationId: 'listAttempts',
    summary: 'The attempts of a task',
    scope: 'read',
    errors: ['task.not-found'],
    request: { params: taskPathSchema },
    responses: { 200: attemptListSchema },
    handle: async ({ params }, { tenant }) => {
      const attempts = TASK_ID.test(params.id) ? await readAttempts(ledger, tenant, params.id) : null;
      if (!attempts) throw taskNotFound(params.id);
      const names = await readDaemonNames(ports, tenant, attempts);
      return answerList(
        attempts.map((attempt) => Object.assign(attemptRecord(attempt), { daemonName: names.get(attempt.daemon ?? '') ?? null })),
      );
    },
  });
}

/** The names of the daemons that ran attempts, by id. */
async function readDaemonNames(
  ports: Pick<TaskReadPorts, 'redis' | 'keys'>,
  tenant: string,
  attempts: readonly { daemon?: string }[],
): Promise<Map<string, string>> {
  const ids = [...new Set(attempts.flatMap(({ daemon }) => daemon ?? []))];
  if (ids.length === 0) return new Map();
  const daemons = await readDaemons(
    ports,
    ids.map((id) => ({ tenant, id })),
  );
  return new Map(daemons.flatMap((daemon) => (daemon ? [[daemon.id, daemon.name]] : [])));
}

const timelineSchema = z
  .strictObject({
    items: z
      .array(
        z
          .strictObject({
            status: taskStatusSchema,
            at: instantSchema.meta({ description: 'When it came to this status.' }),
            note: z.string().nullable().meta({ description: 'Why, in words.' }),
          })
          .meta({ id: 'TimelineStep', examples: [{ status: 'queued', at: '2026-05-01T09:00:00.000Z', note: null }] }),
      )
      .meta({ description: 'First to last.' }),
    nextCursor: onePageSchema,
  })
  .meta({ id: 'Timeline' });

/** `GET /v1/tasks/:id/timeline`: every transition, first to last. */
function getTaskTimeline({ ledger }: Pick<TaskReadPorts, 'ledger'>): Route {
  return route({
    method: 'get',
    path: '/v1/tasks/:id/timeline',
    operationId: 'getTimeline',
    summary: 'Every step of a task',
    scope: 'read',
    errors: ['task.not-found'],
    request: { params: taskPathSchema },
    responses: { 200: timelineSchema },
    handle: async ({ params }, { tenant }) => {
      const { log } = await findState(ledger, tenant, params.id);
      const items = parseTimeline(log).map(({ status, at, note }) => ({ status, at: toIso(at), note }));
      return answerList(items);
    },
  });
}

const logSchema = onePageOf(logEntryViewSchema, 'First to last.').meta({ id: 'TaskLog' });

/** `GET /v1/tasks/:id/log`: what its agent reported beside its output, first to last. */
function getTaskLog(ports: Omit<TaskReadPorts, 'queues'>): Route {
  return route({
    method: 'get',
    path: '/v1/tasks/:id/log',
    operationId: 'getTaskLog',
    summary: 'Log and progress that the agent of a task reported',
    description:
      'What the agent reported by `context.log` (`info` and up) and `context.progress`: the latest entries, bounded by `tasks.maxLogEntries`, and kept for `tasks.logRetentionMs` after the last one.',
    scope: 'read',
    errors: ['task.not-found'],
    request: { params: taskPathSchema },
    responses: { 200: logSchema },
    handle: async ({ params }, { tenant }) => {
      await findState(ports.ledger, tenant, params.id);
      const limit = ports.config.settings.tasks.maxLogEntries;
      const entries = await readLog(ports, { tenant, id: params.id, after: null, limit });
      return answerList(entries.map((entry) => viewLogEntry(entry)));
    },
  });
}
