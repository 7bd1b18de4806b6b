import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { z } from 'zod';
import { wait } from '#shared/time/index.ts';
import { CliProblem, EXIT } from '../cli-problem.ts';
import { type ApiClient, readAnswer } from '../client/api-client.ts';
import type { CommandContext, ContextOf } from '../command-context.ts';
import { type ListOptions, showList } from '../output/table.ts';
import { shortAge } from '../output/terminal.ts';
import { addPaging } from './options.ts';
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
}

interface ActOptions extends TaskOptions, FilterOptions {
  all?: boolean;
  dryRun?: boolean;
  wait: boolean;
}

/** Actions on one task by its id, and on all tasks of a filter. */
export function addActionCommands(program: Command, contextOf: ContextOf): void {
  const add = (name: ActionName, description: string, one: typeof runRetry): Command =>
    addFilter(program.command(`${name} [id]`).description(description)).action(
      async (id: string | undefined, options: ActOptions, command: Command) => {
        if ((id === undefined) !== (options.all === true))
          throw new CliProblem(`Name a task, or say --all with a filter`, { exitCode: EXIT.usage });
        if (id === undefined) await runOnAll(name, options, contextOf(command));
        else await one(id, options, contextOf(command));
      },
    );
  add('cancel', 'stop a task and its sub-tasks, or all tasks of a filter', runCancel).option('--reason <text>', 'stored with the task');
  add('retry', 'retry a permanently failed task, or start a task now that waits for its next attempt', runRetry);
  add('discard', 'remove the record of an ended task, or of all permanently failed tasks of a filter', runDiscard);
  addActionList(program, contextOf);
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
    .option('--dry-run', 'only count the tasks')
    .option('--no-wait', 'return at once; npx muster actions shows the progress')
    .option('--json', 'print the answer as JSON');
}

async function runDiscard(given: string, _options: TaskOptions, context: CommandContext): Promise<void> {
  const api = context.connect();
  const id = await resolveTaskId(api, given);
  await api.delete(`/v1/tasks/${encodeURIComponent(id)}`);
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

async function runOnAll(action: ActionName, options: ActOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const { reason, dryRun, json } = options;
  const api = context.connect();
  const body = { action, filter: filterOf(options), reason, dryRun };
  const answer = await api.post('/v1/tasks/actions', { body, idempotencyKey: `cli-${randomUUID()}` });
  if (dryRun === true) {
    if (json === true) return terminal.json(answer);
    terminal.line(`${countText(readAnswer(countedSchema, answer))} would be ${VERBS[action]}.`);
    return;
  }
  const ended = options.wait ? await waitForEnd(api, readAnswer(actionSchema, answer), context) : readAnswer(actionSchema, answer);
  if (ended.failed > 0 || ended.status === 'failed') context.end(EXIT.failed);
  if (json === true) return terminal.json(ended);
  if (ended.completedAt) terminal.line(describeEnd(action, ended));
  else terminal.line(`${countText(ended)} will be ${VERBS[action]}. Show the progress with npx muster actions`);
}

function filterOf({ code, agent, session, schedule, source, status, since, until, q }: FilterOptions): Record<string, unknown> {
  return { code, agent, session, schedule, source, since, until, q, status: status?.split(',') };
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

async function waitForEnd(api: ApiClient, begun: Action, { terminal }: CommandContext): Promise<Action> {
  terminal.note(`${countText(begun)} matched. Ctrl-C leaves action ${begun.id} running`);
  let action = begun;
  while (!action.completedAt) {
    await wait(POLL_MS);
    action = readAnswer(actionSchema, await api.get(`/v1/tasks/actions/${begun.id}`));
  }
  return action;
}

function addActionList(program: Command, contextOf: ContextOf): void {
  const actions = addPaging(program.command('actions').description('list actions on many tasks and their progress'), '20').action(
    (options: ListOptions, command: Command) => runActionList(options, contextOf(command)),
  );
  actions
    .command('cancel <id>')
    .description('apply an action to no further task')
    .action(async (id: string, _options: unknown, command: Command) => {
      const context = contextOf(command);
      const answer = await context.connect().post(`/v1/tasks/actions/${encodeURIComponent(id)}/cancel`);
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
