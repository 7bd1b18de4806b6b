import { randomUUID } from 'node:crypto';
import { Option, type Command } from 'commander';
import { z } from 'zod';
import { QUEUE_MODES } from '#shared/config/index.ts';
import { durationText } from '#shared/time/index.ts';
import { CliProblem, EXIT } from '../cli-problem.ts';
import { readAnswer, type ApiClient } from '../client/api-client.ts';
import { followTask } from '../client/follow-stream.ts';
import type { CommandContext, ContextOf } from '../command-context.ts';
import { isSetback, OutputWriter } from '../output/output-writer.ts';
import { plainText, type Terminal } from '../output/terminal.ts';
import { withKnownAgents } from './agents.ts';
import { type Attached, attachOption, uploadFiles } from './attach.ts';
import { contextOption, parseNames, priorityOption, withinOption } from './options.ts';
import { attemptsSchema, taskViewSchema, type TaskView } from './tasks/task-view.ts';
import { noteWaits } from './tasks/wait-notes.ts';

export function addSendCommand(program: Command, contextOf: ContextOf): void {
  program
    .command('send <text>')
    .description('send a task and show what it writes; "-" reads the text from standard input')
    .option('--agent <id>', 'the agent that runs it', 'echo')
    .option('--session <key>', 'its session, whose tasks run one at a time and in order')
    .addOption(
      new Option('--mode <mode>', 'what to do while another task of the session runs (default: the mode of the session)').choices(
        QUEUE_MODES,
      ),
    )
    .addOption(priorityOption())
    .addOption(withinOption())
    .addOption(contextOption())
    .addOption(attachOption())
    .option('--needs <list>', 'capabilities that the daemon or worker has to have, such as browser,code', parseNames)
    .option('--daemon <name>', 'the daemon that runs it, by name or id')
    .option('--no-wait', 'print the id, and do not wait for the end')
    .option('--json', 'print the record as JSON once the task has ended')
    .action((text: string, options: SendOptions, command: Command) => runSend(text, options, contextOf(command)));
}

interface SendOptions {
  agent: string;
  session?: string;
  mode?: string;
  priority?: number | string;
  within?: string;
  context?: Record<string, unknown>;
  attach?: readonly string[];
  needs?: readonly string[];
  daemon?: string;
  wait: boolean;
  json?: boolean;
}

const acceptedSchema = z.object({ id: z.string(), status: z.string().nullable(), position: z.number().nullish() });

/** Posts a task and, without `--no-wait`, shows what it writes until it ends. */
async function runSend(text: string, options: SendOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const input = text === '-' ? await context.readInput() : text;
  if (input === '') throw new CliProblem('There is no text to send', { exitCode: EXIT.usage });
  if (options.mode !== undefined && options.session === undefined)
    throw new CliProblem('--mode needs a session: name it with --session', { exitCode: EXIT.usage });
  const api = context.connect();
  const attachments = options.attach && (await uploadFiles(api, options.attach));
  const answer = await postTask(api, { input, attachments }, options);
  const { id, status } = readAnswer(acceptedSchema, answer);
  if (options.wait) return showUntilEnd(id, { api, json: options.json === true, ...context });
  if (options.json === true) return terminal.json(answer);
  terminal.line(id);
  terminal.note(terminal.paintNote(`${status ?? 'no longer kept'}; follow it with npx muster task ${id}`, 'dim'));
}

interface Content {
  input: string;
  attachments: readonly Attached[] | undefined;
}

function postTask(api: ApiClient, content: Content, options: SendOptions): Promise<unknown> {
  const { agent, session, mode, priority, within, context, needs, daemon } = options;
  const requirements = needs || daemon !== undefined ? { capabilities: needs, targetDaemon: daemon } : undefined;
  // The channel says that a person waits, whose task goes before unattended ones.
  const body = { agent, ...content, channel: 'cli', session, mode, priority, within, context, requirements };
  // The key belongs to this call: sending the same text twice on purpose makes two tasks.
  return withKnownAgents(api, agent, api.post('/v1/tasks', { body, idempotencyKey: `cli-${randomUUID()}` }));
}

interface ShowOptions extends Pick<CommandContext, 'terminal' | 'end'> {
  api: ApiClient;
  /** Print only the record, at the end. */
  json: boolean;
}

/** Shows what a task writes until it ends, then its status, which decides the exit code. */
async function showUntilEnd(id: string, { api, json, terminal, end }: ShowOptions): Promise<void> {
  if (!json) terminal.note(terminal.paintNote(`task ${id}`, 'dim'));
  const writer = new OutputWriter(terminal);
  // Ctrl-C ends this command, not the task.
  const leave = (): void => {
    writer.finish();
    terminal.note(`The task goes on. Show it with npx muster task ${id}, or stop it with npx muster cancel ${id}`);
    process.exit(EXIT.interrupted);
  };
  process.once('SIGINT', leave);
  const started = new AbortController();
  if (!json) void noteWaits(id, { api, terminal, signal: started.signal });
  try {
    await followTask({
      api,
      taskId: id,
      onOutput: (output) => {
        started.abort();
        if (!json) writer.write(output);
      },
      onStatus: async (status) => {
        if (status === 'running') started.abort();
        if (!json && isSetback(status)) writer.reportSetback(status, await lastFailure(api, id));
      },
    });
    const answer = await api.get(`/v1/tasks/${id}`);
    const task = readAnswer(taskViewSchema, answer);
    end(task.status === 'completed' || absorbedBy(task) !== null ? EXIT.ok : EXIT.failed);
    if (json) return terminal.json(answer);
    writer.complete(task);
    showEnd(task, terminal);
  } catch (error) {
    if (!json) writer.finish();
    throw error instanceof CliProblem && error.exitCode === EXIT.unreachable ? withTaskId(error, id) : error;
  } finally {
    started.abort();
    process.off('SIGINT', leave);
  }
}

/** A lost connection changes nothing for an accepted task, so the message says how to find it. */
function withTaskId(error: CliProblem, id: string): CliProblem {
  return new CliProblem(`${error.message}\nThe task was accepted and goes on: npx muster task ${id}`, {
    exitCode: error.exitCode,
    ...(error.code === undefined ? {} : { code: error.code }),
    cause: error,
  });
}

/** The error of the newest failed attempt; null when the server does not answer, which does not concern the task. */
async function lastFailure(api: ApiClient, id: string): Promise<string | null> {
  try {
    const { items } = readAnswer(attemptsSchema, await api.get(`/v1/tasks/${id}/attempts`));
    const error = items.findLast((attempt) => attempt.error)?.error;
    return error ? `${plainText(error.message)} [${error.code}]` : null;
  } catch (error) {
    if (error instanceof CliProblem) return null;
    throw error;
  }
}

/** The task whose run took in this message, if one did. */
function absorbedBy({ outcome }: TaskView): string | null {
  return outcome?.kind === 'steered' || outcome?.kind === 'merged' ? (outcome.taskId ?? null) : null;
}

function showEnd(task: TaskView, terminal: Terminal): void {
  // Only the last attempt is timed, without the attempts and waits before it.
  const took = task.startedAt && task.completedAt ? ` in ${durationText(Date.parse(task.completedAt) - Date.parse(task.startedAt))}` : '';
  const attempt = task.attempt > 1 ? `, attempt ${task.attempt}` : '';
  const isDone = task.status === 'completed';
  const other = absorbedBy(task);
  const status = terminal.paintNote(task.status, isDone || other !== null ? 'green' : 'red');
  terminal.note(`${status}${terminal.paintNote(`${attempt}${took}`, 'dim')}`);
  if (other !== null) terminal.note(`It went into task ${other}: npx muster task ${other}`);
  else if (!isDone) showReason(task, terminal);
  if (task.status === 'permanently_failed') terminal.note(`Retry it with npx muster retry ${task.id}`);
}

function showReason({ error, outcome }: TaskView, terminal: Terminal): void {
  if (error) terminal.note(`${plainText(error.message)} [${error.code}]`);
  else if (outcome?.reason) terminal.note(plainText(outcome.reason));
}
