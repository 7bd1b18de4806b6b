import { CliProblem } from './cli-problem.ts';
import type { ApiClient } from './api-client.ts';
import { EXIT } from './exit-codes.ts';
import { followTask } from './follow-task.ts';
import { isSetback, OutputWriter } from './output-writer.ts';
import { readAnswer } from './read-answer.ts';
import type { RunContext } from './run-context.ts';
import { duration } from './short-time.ts';
import { plainText } from './plain-text.ts';
import { attemptsSchema, taskViewSchema, type TaskView } from './task-view.ts';
import type { Terminal } from './terminal.ts';

export interface ShowOptions extends Pick<RunContext, 'terminal' | 'end'> {
  api: ApiClient;
  /** Only the whole record, at the end. */
  json: boolean;
}

/** Shows what a task writes until it ends, then how it ended, which is also the exit code. */
export async function showTaskAsItRuns(id: string, { api, json, terminal, end }: ShowOptions): Promise<void> {
  if (!json) terminal.note(terminal.paintNote(`task ${id}`, 'dim'));
  const writer = new OutputWriter(terminal);
  // Ctrl-C ends the looking, not the task.
  const leave = (): void => {
    writer.finish();
    terminal.note(`The task goes on. Look at it with npx muster task ${id}, stop it with npx muster cancel ${id}`);
    process.exit(EXIT.interrupted);
  };
  process.once('SIGINT', leave);
  try {
    await followTask({
      api,
      taskId: id,
      onOutput: (output) => !json && writer.write(output),
      onStatus: async (status) => {
        if (!json && isSetback(status)) writer.setback(status, await lastFailure(api, id));
      },
    });
    const answer = await api.get(`/v1/tasks/${id}`);
    const task = readAnswer(taskViewSchema, answer);
    end(task.status === 'completed' || wentInto(task) !== null ? EXIT.ok : EXIT.failed);
    if (json) return terminal.json(answer);
    writer.complete(task);
    showEnd(task, terminal);
  } catch (error) {
    if (!json) writer.finish();
    throw error instanceof CliProblem && error.exitCode === EXIT.unreachable ? goesOn(error, id) : error;
  } finally {
    process.off('SIGINT', leave);
  }
}

/** The task was accepted; that its reader lost sight of it changes nothing for it. */
function goesOn(error: CliProblem, id: string): CliProblem {
  return new CliProblem(`${error.message}\nThe task was accepted and goes on: npx muster task ${id}`, {
    exitCode: error.exitCode,
    ...(error.code === undefined ? {} : { code: error.code }),
    cause: error,
  });
}

/** Why the newest attempt that failed did; null when the server does not say. The task itself goes on either way. */
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

/** The task whose run a message became part of; null for one that did not. */
function wentInto({ outcome }: TaskView): string | null {
  return outcome?.kind === 'steered' || outcome?.kind === 'merged' ? (outcome.taskId ?? null) : null;
}

function showEnd(task: TaskView, terminal: Terminal): void {
  // The time is the last attempt's: with those before it and the waits between them it took longer.
  const took = task.startedAt && task.completedAt ? ` in ${duration(Date.parse(task.completedAt) - Date.parse(task.startedAt))}` : '';
  const attempt = task.attempt > 1 ? `, attempt ${task.attempt}` : '';
  const isDone = task.status === 'completed';
  const other = wentInto(task);
  const status = terminal.paintNote(task.status, isDone || other !== null ? 'green' : 'red');
  terminal.note(`${status}${terminal.paintNote(`${attempt}${took}`, 'dim')}`);
  if (other !== null) terminal.note(`It went into task ${other}: npx muster task ${other}`);
  else if (!isDone) showReason(task, terminal);
  if (task.status === 'permanently_failed') terminal.note(`Open it again with npx muster retry ${task.id}`);
}

function showReason({ error, outcome }: TaskView, terminal: Terminal): void {
  if (error) terminal.note(`${plainText(error.message)} [${error.code}]`);
  else if (outcome?.reason) terminal.note(plainText(outcome.reason));
}
