import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import pMap from 'p-map';
import { z } from 'zod';
import { wait } from '#shared/time/index.ts';
import { CliProblem, EXIT } from '../cli-problem.ts';
import { type ApiClient, readAnswer } from '../client/api-client.ts';
import type { CommandContext, ContextOf } from '../command-context.ts';
import { type ListOptions, showList } from '../output/table.ts';
import { shortAge } from '../output/terminal.ts';
import { addPaging, type JsonOptions, parseCount } from './options.ts';
import { runCancel, runRetry, type TaskOptions } from './tasks/tasks.ts';
import { resolveTaskId } from './tasks/task-view.ts';

const VERBS = { retry: 'retried', cancel: 'cancelled', discard: 'discarded' } as const;
type ActionName = keyof typeof VERBS;

interface FilterOptions {
  code?: string;
  agent?: string;
  session?: string;
  schedule?: string;
  source?: string;
  status?: string;
  since?: string;
  until?: string;
  q?: string;
  worker?: string;
  release?: string;
  metadata?: string[];
}

interface ActOptions extends TaskOptions, FilterOptions {
  all?: boolean;
  dryRun?: boolean;
  wait: boolean;
}

/** Actions on tasks by their ids, and on all tasks of a filter. */
export function addActionCommands(program: Command, contextOf: ContextOf): void {
  const add = (name: ActionName, description: string, one: typeof runRetry): Command =>
    addFilter(program.command(`${name} [ids...]`).description(description)).action(
      async (given: string[], options: ActOptions, command: Command) => {
        const context = contextOf(command);
        const [id, ...others] = given;
        checkNamed(given, options);
        if (name === 'cancel' && id === undefined) requireFilter(options);
        if (id === undefined) await runOnMany(name, { filter: filterOf(options) }, options, context);
        else if (others.length === 0 && options.dryRun !== true) await one(id, options, context);
        else await runOnMany(name, { ids: await resolveAll(given, context) }, options, context);
      },
    );
  add('cancel', 'stop tasks and their sub-tasks, or all tasks of a filter', runCancel).option('--reason <text>', 'stored with the tasks');
  add(
    'retry',
    'retry permanently failed tasks, start tasks now that wait for their next attempt, or release what is held with them',
    runRetry,
  ).option(
    '--from-step <seq>',
    'of one ended task: make a new one that has its journal up to this entry, and goes on from there',
    parseCount,
  );
  add('discard', 'remove the records of ended tasks, or of all permanently failed tasks of a filter', runDiscard);
  addActionList(program, contextOf);
}

function checkNamed(given: readonly string[], { all, fromStep, dryRun }: ActOptions): void {
  if ((given.length === 0) !== (all === true)) throw new CliProblem('Name a task, or say --all with a filter', { exitCode: EXIT.usage });
  if (fromStep !== undefined && (given.length !== 1 || dryRun === true))
    throw new CliProblem('--from-step goes with the id of one task, and without --dry-run', { exitCode: EXIT.usage });
}

/** A slip would stop all that the tenant has. */
function requireFilter(options: ActOptions): void {
  if (options.dryRun === true || Object.values(filterOf(options)).some((value) => value !== undefined)) return;
  const message =
    'This would cancel every task of the tenant: say which with a filter, such as --agent, or --status pending,queued,running for all';
  throw new CliProblem(message, { exitCode: EXIT.usage });
}

function addFilter(command: Command): Command {
  return command
    .option('--all', 'all tasks that fit the options below')
    .option('--code <code>', 'whose last attempt failed with this code')
    .option('--agent <id>', 'of this agent')
    .option('--session <key>', 'of this session')
    .option('--schedule <id>', 'of this schedule')
    .option('--source <source>', 'from this source')
    .option('--status <statuses>', 'with one of these statuses, separated by commas')
    .option('--since <time>', 'accepted at or after, such as 2026-05-01T09:00:00Z')
    .option('--until <time>', 'accepted before')
    .option('--q <text>', 'with this text in the input, output, id, session or error')
    .option('--worker <id>', 'whose last attempt this worker ran')
    .option('--release <release>', 'whose last attempt a worker of this release ran')
    .option('--metadata <key:value...>', 'with these fields of their metadata')
    .option('--dry-run', 'only count the tasks')
    .option('--no-wait', 'return at once; npx muster actions shows the progress')
    .option('--json', 'print the answer as JSON');
}

async function runDiscard(given: string, { json }: TaskOptions, context: CommandContext): Promise<void> {
  const api = context.connect();
  const id = await resolveTaskId(api, given);
  const answer = await api.delete(`/v1/tasks/${encodeURIComponent(id)}`);
  if (json === true) return context.terminal.json(answer);
  context.terminal.line('The record of the task is removed.');
}

const countedSchema = z.object({ matched: z.number(), exact: z.boolean() });
const actionSchema = countedSchema.extend({
  id: z.string(),
  action: z.string(),
  status: z.string(),
  done: z.number(),
  skipped: z.number(),
  failed: z.number(),
  error: z.string().nullish(),
  createdAt: z.string(),
  completedAt: z.string().nullish(),
});
type Action = z.infer<typeof actionSchema>;

/** Ids of which only the beginning may be given. */
async function resolveAll(given: readonly string[], context: CommandContext): Promise<string[]> {
  const api = context.connect();
  return await pMap(given, async (each) => await resolveTaskId(api, each), { concurrency: 4 });
}

interface Selected {
  ids?: readonly string[];
  filter?: Record<string, unknown>;
}

async function runOnMany(action: ActionName, selected: Selected, options: ActOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const { reason, dryRun, json } = options;
  const api = context.connect();
  const body = { action, ...selected, reason, dryRun };
  const begun = await api.post('/v1/tasks/actions', { body, idempotencyKey: `cli-${randomUUID()}` });
  if (dryRun === true) {
    if (json === true) return terminal.json(begun);
    terminal.line(`${countText(readAnswer(countedSchema, begun))} would be ${VERBS[action]}.`);
    return;
  }
  const answer = options.wait ? await waitForEnd(api, begun, context) : begun;
  const ended = readAnswer(actionSchema, answer);
  if (ended.failed > 0 || ended.status === 'failed') context.end(EXIT.failed);
  if (json === true) return terminal.json(answer);
  if (ended.completedAt) terminal.line(describeEnd(action, ended));
  else terminal.line(`${countText(ended)} will be ${VERBS[action]}. Show the progress with npx muster actions`);
}

function filterOf({ code, agent, session, schedule, source, status, since, until, q, ...rest }: FilterOptions): Record<string, unknown> {
  const { worker, release, metadata } = rest;
  return { code, agent, session, schedule, source, since, until, q, worker, release, metadata, status: status?.split(',') };
}

function countText({ matched, exact }: z.infer<typeof countedSchema>): string {
  const tasks = matched === 1 ? '1 task' : `${matched} tasks`;
  return exact ? tasks : `At least ${tasks}`;
}

function describeEnd(action: ActionName, { status, matched, done, skipped, failed, error }: Action): string {
  const of = matched === done ? '' : ` of ${matched}`;
  const others = [
    ...(skipped > 0 ? [`${skipped} had changed`] : []),
    ...(failed > 0 ? [`${failed} could not be ${VERBS[action]}`] : []),
    ...(status === 'completed' ? [] : [`the action ${status === 'cancelled' ? 'was cancelled' : status}`]),
  ];
  const tasks = done === 1 ? 'task was' : 'tasks were';
  return `${done}${of} ${tasks} ${VERBS[action]}${others.map((each) => `; ${each}`).join('')}${error ? `: ${error}` : ''}.`;
}

const POLL_MS = 500;

/** Resolves with the last answer about the action, in full. */
async function waitForEnd(api: ApiClient, begun: unknown, { terminal }: CommandContext): Promise<unknown> {
  const { id, ...counted } = readAnswer(actionSchema, begun);
  if (counted.matched > 0 || !counted.exact) terminal.note(`${countText(counted)} matched. Ctrl-C leaves action ${id} running`);
  let answer = begun;
  while (!readAnswer(actionSchema, answer).completedAt) {
    await wait(POLL_MS);
    answer = await api.get(`/v1/tasks/actions/${id}`);
  }
  return answer;
}

function addActionList(program: Command, contextOf: ContextOf): void {
  const actions = addPaging(program.command('actions').description('list actions on many tasks and their progress'), '20').action(
    (options: ListOptions, command: Command) => runActionList(options, contextOf(command)),
  );
  actions
    .command('cancel <id>')
    .description('apply an action to no further task')
    .option('--json', 'print the answer as JSON')
    .action(async (id: string, { json }: JsonOptions, command: Command) => {
      const context = contextOf(command);
      const answer = await context.connect().post(`/v1/tasks/actions/${encodeURIComponent(id)}/cancel`);
      if (json === true) return context.terminal.json(answer);
      context.terminal.line(`Action ${id} is ${readAnswer(actionSchema, answer).status}.`);
    });
}

function runActionList({ json, ...query }: ListOptions, context: CommandContext): Promise<void> {
  const now = context.clock.now();
  return showList(
    {
      path: '/v1/tasks/actions',
      query,
      item: actionSchema,
      heading: ['ID', 'ACTION', 'STATUS', 'TASKS', 'DONE', 'SKIPPED', 'FAILED', 'AGE'],
      row: ({ id, action, status, matched, exact, done, skipped, failed, createdAt }) => [
        id,
        action,
        status,
        exact ? String(matched) : `${matched}+`,
        String(done),
        String(skipped),
        String(failed),
        shortAge(now - Date.parse(createdAt)),
      ],
      empty: 'There is no action.',
    },
    json === true ? { json } : {},
    context,
  );
}
