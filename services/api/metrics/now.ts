import { z } from 'zod';
import { SOURCES } from '#shared/config/index.ts';
import { countSchema, route, type Route } from '#shared/http/index.ts';
import { type Ledger, listTasks, readLastLine, readProgress } from '#shared/ledger/index.ts';
import { readServiceTimes, serviceTimeOf, type TenantTimes } from '#shared/metrics/index.ts';
import { type Load, type LoadPorts, type LoadReader, WAIT_KINDS, waitKindOf } from '#shared/queue/index.ts';
import { priorityBand, type Task } from '#shared/tasks/index.ts';
import { toIso } from '#shared/time/index.ts';
import { countOpenQuestions } from '#shared/waits/index.ts';

const MAX_SHOWN = 100;

const runningSchema = z.strictObject({
  id: z.string().meta({ description: 'Of the task.' }),
  agent: z.string(),
  source: z.enum(SOURCES).meta({ description: 'Where it came from.' }),
  session: z.string().nullable(),
  input: z.string().meta({ description: 'The beginning of its input.' }),
  attempt: z.int().meta({ description: 'Number of its attempt.' }),
  worker: z.string().nullable(),
  startedAt: z.iso.datetime().nullable().meta({ description: 'When its current attempt began.' }),
  usualMs: z.number().nullable().meta({ description: 'How long attempts of its agent hold a slot, the mean; null when unknown.' }),
  progress: z
    .strictObject({
      note: z.string().nullable().meta({ description: 'In words.' }),
      percent: z.number().nullable().meta({ description: 'From 0 to 100.' }),
    })
    .nullable()
    .meta({ description: 'What it reported last; null for nothing.' }),
  lastLine: z.string().nullable().meta({ description: 'The last line of what it has written, up to 200 characters.' }),
});

const waitingSchema = z.strictObject({
  gate: z.string().meta({ description: 'What they wait at, as in `why`; `queue` when they wait only for a free slot.' }),
  kind: z.enum(WAIT_KINDS).meta({ description: 'What they count as in `GET /v1/queues`: `forSlot`, `forDaemon`, `held` or `parked`.' }),
  count: z.int(),
  oldestMs: z
    .number()
    .nullable()
    .meta({ description: 'How long the first of them has waited there; null where they wait for their time.' }),
});

const nowSchema = z
  .strictObject({
    running: z.array(runningSchema).meta({ description: 'Newest first.' }),
    runningTotal: z.int().meta({ description: 'How many run.' }),
    waiting: z.array(waitingSchema).meta({ description: 'By gate, the most tasks first.' }),
    questions: z
      .strictObject({
        open: z.int().meta({ description: 'How many wait for an answer.' }),
        oldestAt: z.iso.datetime().nullable().meta({ description: 'When the oldest of them was asked; null for none.' }),
      })
      .meta({ description: 'What runs ask people. A run that waits for its answer is suspended, and is not among `waiting`.' }),
  })
  .meta({ id: 'Now' });
type RunningView = z.infer<typeof runningSchema>;

const querySchema = z.strictObject({
  limit: countSchema(1, MAX_SHOWN).default(20).meta({ description: 'How many running tasks.' }),
});

/** `GET /v1/now`. */
export function getNow({ ledger }: Pick<LoadPorts, 'ledger'>, loads: LoadReader): Route {
  return route({
    method: 'get',
    path: '/v1/now',
    operationId: 'getNow',
    summary: 'What runs, and how many tasks wait for what',
    description:
      'Counts are up to a second old, and older where hundreds of tenants have work; those of many waiting tasks are estimated from the oldest ones.',
    scope: 'read',
    request: { query: querySchema },
    responses: { 200: nowSchema },
    handle: async ({ query: { limit } }, { tenant }) => {
      const [load, page, times, { open, oldestAt }] = await Promise.all([
        loads.read(tenant),
        listTasks(ledger, tenant, { status: 'running' }, { limit }),
        readServiceTimes(ledger, tenant),
        countOpenQuestions(ledger, tenant),
      ]);
      const running = await Promise.all(page.items.map((task) => viewRunning(ledger, task, times)));
      const runningTotal = Math.max(load.running, running.length);
      const questions = { open, oldestAt: toIso(oldestAt) };
      return { status: 200, body: { running, runningTotal, waiting: waitingByGate(load), questions } };
    },
  });
}

const INPUT_CHARACTERS = 200;

async function viewRunning(ledger: Ledger, { body, state }: Task, times: TenantTimes): Promise<RunningView> {
  const { tenant, id, agent, source, session, input } = body;
  const [progress, lastLine] = await Promise.all([readProgress(ledger, tenant, id), readLastLine(ledger, tenant, id)]);
  return {
    id,
    agent,
    source,
    session,
    input: input.slice(0, INPUT_CHARACTERS),
    attempt: state.attempt,
    worker: state.worker ?? null,
    startedAt: toIso(state.startedAt),
    usualMs: serviceTimeOf(times, agent, priorityBand(state.queue, state.priority)),
    progress: progress && { note: progress.note ?? null, percent: progress.percent ?? null },
    lastLine,
  };
}

function waitingByGate({ waiting }: Load): z.infer<typeof waitingSchema>[] {
  const groups = Map.groupBy(waiting, ({ gate }) => gate);
  const all = [...groups].map(([gate, entries]) => {
    const ages = entries.flatMap(({ oldestMs }) => oldestMs ?? []);
    return {
      gate: gate ?? 'queue',
      kind: waitKindOf(gate),
      count: entries.reduce((sum, { count }) => sum + count, 0),
      oldestMs: ages.length === 0 ? null : Math.max(...ages),
    };
  });
  return all.toSorted((a, b) => b.count - a.count);
}
