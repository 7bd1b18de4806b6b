import type { Command } from 'commander';
import { z } from 'zod';
import { readAnswer } from '../client/api-client.ts';
import type { CommandContext, ContextOf } from '../command-context.ts';
import { formatTable, pageSchema, showTable } from '../output/table.ts';
import { localTime, oneLine, plainText, shortAge } from '../output/terminal.ts';
import { addPaging, type JsonOptions } from './options.ts';

interface ListSessionsOptions extends JsonOptions {
  active?: boolean;
  q?: string;
  origin?: string;
  limit?: string;
  cursor?: string;
}

/** `muster sessions` lists sessions or shows one; its subcommands change one. */
export function addSessionCommands(program: Command, contextOf: ContextOf): void {
  const sessions = addPaging(
    program.command('sessions [id]').description('list sessions, or show one: what runs, what waits and why'),
    '50',
  )
    .option('--active', 'only sessions in which something runs or waits')
    .option('--q <text>', 'only sessions whose id, or the sender of whose newest task, holds this text')
    .option('--origin <name>', 'only sessions whose newest task came from there: telegram, webchat, api, ...')
    .action((id: string | undefined, options: ListSessionsOptions, command: Command) =>
      id === undefined ? runList(options, contextOf(command)) : runShow(id, options, contextOf(command)),
    );
  sessions
    .command('show <id>')
    .description('show a session, also when it is named like a subcommand')
    .option('--json', 'print the answer as JSON')
    .action((id: string, options: JsonOptions, command: Command) => runShow(id, options, contextOf(command)));
  sessions
    .command('stop <id>')
    .description('cancel the waiting tasks of a session, then stop the running one')
    .option('--json', 'print the answer as JSON')
    .action((id: string, options: JsonOptions, command: Command) => runStop(id, options, contextOf(command)));
  sessions
    .command('mode <id> <mode>')
    .description('set the mode: queue, interrupt, collect, steer, latest or reject; "default" or "reset" removes it')
    .option('--json', 'print the answer as JSON')
    .action((id: string, mode: string, options: JsonOptions, command: Command) => runMode({ id, mode }, options, contextOf(command)));
}

function pathOf(id: string): string {
  return `/v1/sessions/${encodeURIComponent(id)}`;
}

const holderSchema = z.object({
  taskId: z.string(),
  startedAt: z.string().nullish(),
  worker: z.string().nullish(),
  status: z.string().nullish(),
  reason: z.string().nullish(),
});

/** The fields of a session that the list shows. */
const sessionSummarySchema = z.object({
  id: z.string(),
  mode: z.string(),
  holder: holderSchema.nullish(),
  waitingTotal: z.number(),
});

const workspaceSchema = z.object({
  agent: z.string(),
  expiresAt: z.string(),
  changes: z.string().nullable(),
  daemon: z.object({ id: z.string(), name: z.string().nullable(), status: z.string() }).nullish(),
});

const sessionViewSchema = sessionSummarySchema.extend({
  modeSource: z.string().nullish(),
  surface: z.string().nullish(),
  waiting: z.array(z.object({ taskId: z.string(), position: z.number(), reason: z.string() })),
  transcriptLength: z.number().nullish(),
  workspaces: z.array(workspaceSchema).default([]),
});

const NAME_WIDTH = 40;

/** Lists the sessions that have tasks, with the running task of each and the number of waiting ones. */
async function runList({ active, json, ...filter }: ListSessionsOptions, context: CommandContext): Promise<void> {
  const { terminal, clock } = context;
  const answer = await context.connect().get('/v1/sessions', { ...filter, active: active === true ? 'true' : undefined });
  if (json === true) return terminal.json(answer);
  const { items, nextCursor } = readAnswer(pageSchema(sessionSummarySchema), answer);
  if (items.length === 0 && nextCursor === null)
    return terminal.note('No session has tasks. Send one: npx muster send "Hello" --session demo');
  const rows = items.map(({ id, mode, waitingTotal, holder }) => {
    const since = holder?.startedAt ? shortAge(clock.now() - Date.parse(holder.startedAt)) : '';
    return [oneLine(id, NAME_WIDTH), mode, String(waitingTotal), since, holder?.taskId ?? ''];
  });
  const heading = ['SESSION', 'MODE', 'WAITING', 'RUNS FOR', 'TASK'];
  // Half of a task's id is of no use, however narrow the terminal.
  showTable({ heading, rows, nextCursor, maxColumns: Infinity }, terminal);
}

/** Shows the running task of a session, the waiting ones with their reasons, and its mode. */
async function runShow(id: string, { json }: JsonOptions, context: CommandContext): Promise<void> {
  const { terminal, clock } = context;
  const answer = await context.connect().get(pathOf(id));
  if (json === true) return terminal.json(answer);
  const session = readAnswer(sessionViewSchema, answer);
  const { holder, waiting, waitingTotal } = session;
  // A session is whatever name a message gives: a wrong one is no error.
  if (isEmpty(session)) terminal.note('Nothing is known of this session. Those that have tasks: npx muster sessions');
  terminal.line(terminal.paint(plainText(id), 'bold'));
  const rows = [
    ['', 'mode', describeMode(session)],
    ['', 'turns', String(session.transcriptLength ?? 0)],
    ['', 'runs', holder ? describeHolder(holder, clock.now()) : 'nothing'],
    ['', 'waiting', String(waitingTotal)],
  ];
  for (const line of formatTable(rows)) terminal.line(line);
  if (waiting.length > 0) terminal.line(`\n${terminal.paint('Waiting', 'dim')}`);
  const waitingRows = waiting.map(({ position, taskId, reason }) => ['', String(position), taskId, plainText(reason)]);
  for (const line of formatTable(waitingRows)) terminal.line(line);
  if (waitingTotal > waiting.length) terminal.line(`  and ${waitingTotal - waiting.length} more`);
  for (const each of session.workspaces) showWorkspace(each, terminal);
}

function showWorkspace({ agent, expiresAt, changes, daemon }: z.infer<typeof workspaceSchema>, terminal: CommandContext['terminal']): void {
  const where = daemon ? ` on ${plainText(daemon.name ?? daemon.id)}${daemon.status === 'offline' ? ', which is offline,' : ''}` : '';
  terminal.line(`\n${terminal.paint(`Kept of ${plainText(agent)}${where} until ${localTime(new Date(expiresAt))}`, 'dim')}`);
  for (const line of (changes ?? '').split('\n')) if (line !== '') terminal.line(`  ${plainText(line)}`);
}

function isEmpty({ holder, waitingTotal, transcriptLength }: z.infer<typeof sessionViewSchema>): boolean {
  return !holder && waitingTotal === 0 && !transcriptLength;
}

function describeMode({ mode, modeSource, surface }: z.infer<typeof sessionViewSchema>): string {
  if (modeSource === 'session') return `${mode}, chosen for this session`;
  return `${mode}, the default${modeSource === 'surface' && surface ? ` of ${surface}` : ''}`;
}

function describeHolder({ taskId, startedAt, worker, reason }: z.infer<typeof holderSchema>, now: number): string {
  if (startedAt) return `${taskId} for ${shortAge(now - Date.parse(startedAt))}${worker ? ` on ${plainText(worker)}` : ''}`;
  return `${taskId} is next: ${plainText(reason ?? 'it starts now')}`;
}

const stoppedSchema = z.object({ withdrawn: z.number(), stopped: z.number() });

async function runStop(id: string, { json }: JsonOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().post(`${pathOf(id)}/stop`);
  if (json === true) return terminal.json(answer);
  const { withdrawn, stopped } = readAnswer(stoppedSchema, answer);
  if (withdrawn + stopped === 0) return terminal.line('Nothing runs and nothing waits.');
  if (withdrawn > 0) terminal.line(`${withdrawn} waiting ${withdrawn === 1 ? 'task is' : 'tasks are'} cancelled.`);
  if (stopped > 0) terminal.line('The running task is being stopped.');
}

async function runMode({ id, mode }: { id: string; mode: string }, { json }: JsonOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().put(`${pathOf(id)}/mode`, { body: { mode } });
  if (json === true) return terminal.json(answer);
  const session = readAnswer(sessionViewSchema, answer);
  terminal.line(`The mode is ${session.mode}${session.modeSource === 'session' ? '.' : ', the default again.'}`);
}
