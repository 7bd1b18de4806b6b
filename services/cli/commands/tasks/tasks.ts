import type { Command } from 'commander';
import { z } from 'zod';
import { readAnswer } from '../../client/api-client.ts';
import type { CommandContext, ContextOf } from '../../command-context.ts';
import { pageSchema, showTable } from '../../output/table.ts';
import { oneLine, shortAge } from '../../output/terminal.ts';
import { addPaging, parseCount } from '../options.ts';
import { runWhy } from './explain-task.ts';
import { type JournalOptions, runJournal } from './show-journal.ts';
import { runShowTask } from './show-task.ts';
import { runTree } from './show-tree.ts';
import { resolveTaskId, styleOfStatus, taskViewSchema, type TaskView } from './task-view.ts';

export interface TaskOptions {
  json?: boolean;
  reason?: string;
  fromStep?: number;
}

export function addTaskCommands(program: Command, contextOf: ContextOf): void {
  addPaging(program.command('tasks').description('list tasks, newest first'), '20')
    .option('--status <status>', 'such as running, queued, completed, permanently_failed')
    .option('--agent <id>', 'only tasks of this agent')
    .option('--session <key>', 'only tasks of this session')
    .option('--release <release>', 'only tasks whose last attempt a worker of this release ran')
    .action((options: ListTasksOptions, command: Command) => runList(options, contextOf(command)));
  const add = (
    name: string,
    description: string,
    run: (id: string, options: TaskOptions, context: CommandContext) => Promise<void>,
  ): Command =>
    program
      .command(`${name} <id>`)
      .description(description)
      .option('--json', 'print the answer as JSON')
      .action((id: string, options: TaskOptions, command: Command) => run(id, options, contextOf(command)));
  add('task', 'show a task, its attempts and its timeline', runShowTask);
  program
    .command('journal <id>')
    .description('show what the run of a task has done: steps, waits, and what each used and gave')
    .option('--entry <seq>', 'one entry as JSON, with all that it gave and was given', parseCount)
    .option('--follow', 'print entries as they come, until the run has ended')
    .option('--json', 'print the answer as JSON')
    .action((id: string, options: JournalOptions, command: Command) => runJournal(id, options, contextOf(command)));
  add('tree', 'show a task and its sub-tasks: agent, status, how long since it was accepted, and cost', runTree);
  add('why', 'explain why a task does not run yet', runWhy);
}

interface ListTasksOptions {
  status?: string;
  agent?: string;
  session?: string;
  release?: string;
  limit?: string;
  cursor?: string;
  json?: boolean;
}

const INPUT_WIDTH = 160;
const SESSION_WIDTH = 24;

async function runList({ json, ...query }: ListTasksOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().get('/v1/tasks', query);
  if (json === true) return terminal.json(answer);
  const { items, nextCursor } = readAnswer(pageSchema(taskViewSchema), answer);
  if (items.length === 0) return terminal.note('No task matches. Send one: npx muster send "Hello"');
  showTasks(items, nextCursor, context);
}

function showTasks(tasks: readonly TaskView[], nextCursor: string | null, { terminal, clock }: CommandContext): void {
  const now = clock.now();
  const hasSessions = tasks.some(({ session }) => session);
  const rows = tasks.map(({ id, status, agent, session, priority, createdAt, input }) => {
    const lane = hasSessions ? [oneLine(session ?? '', SESSION_WIDTH)] : [];
    return [id, status, agent, ...lane, String(priority), shortAge(now - Date.parse(createdAt)), oneLine(input, INPUT_WIDTH)];
  });
  const heading = ['ID', 'STATUS', 'AGENT', ...(hasSessions ? ['SESSION'] : []), 'PRIO', 'AGE', 'INPUT'];
  const paint = (line: string, row: number): string => {
    const status = tasks[row]?.status ?? '';
    return line.replace(status, () => terminal.paint(status, styleOfStatus(status)));
  };
  showTable({ heading, rows, nextCursor, paint }, terminal);
}

const cancelledSchema = z.object({ status: z.string(), stopping: z.boolean().optional(), subTasks: z.number().optional() });

/** Stops one task. */
export async function runCancel(given: string, { reason, json }: TaskOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const body = reason === undefined ? {} : { reason };
  const api = context.connect();
  const id = await resolveTaskId(api, given);
  const answer = await api.post(`/v1/tasks/${encodeURIComponent(id)}/cancel`, { body });
  if (json === true) return terminal.json(answer);
  const { stopping, subTasks = 0 } = readAnswer(cancelledSchema, answer);
  terminal.line(stopping === true ? 'The task runs and is being stopped.' : 'The task is cancelled.');
  if (subTasks > 0) terminal.line(subTasks === 1 ? 'So is its sub-task.' : `So are its ${subTasks} sub-tasks.`);
}

const retriedSchema = z.object({ id: z.string(), status: z.string() });

/** Retries one task. */
export async function runRetry(given: string, { json, fromStep }: TaskOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const api = context.connect();
  const id = await resolveTaskId(api, given);
  const answer = await api.post(`/v1/tasks/${encodeURIComponent(id)}/retry`, fromStep === undefined ? {} : { body: { fromStep } });
  if (json === true) return terminal.json(answer);
  const made = readAnswer(retriedSchema, answer);
  const what = made.id === id ? `The task is ${made.status} again.` : `Task ${made.id} goes on from entry ${fromStep} of the journal.`;
  terminal.line(`${what} Show it with npx muster task ${made.id}`);
}
