import { basename, join } from 'node:path';
import type { DaemonContext, DaemonHandler, DaemonTask } from '#daemon';
import type { CommandRun } from '#shared/agents/index.ts';
import type { AgentLog, AgentResult } from '#shared/config/index.ts';
import { TaskFailure } from '#shared/errors/index.ts';
import type { CommandDefinition, DaemonSettings } from './daemon-settings.ts';
import { DiskSessions } from './disk-sessions.ts';

interface CommandHandlerOptions extends Pick<DaemonSettings, 'commands' | 'fallback'> {
  readonly runCommand: (run: CommandRun) => Promise<AgentResult>;
  readonly warn: (text: string) => void;
  /** Where programs leave their sessions. */
  readonly sessions: string;
}

/** Runs each task by the command of its agent, as a worker runs a `command` agent. */
export function commandHandler({ commands, fallback, runCommand, warn, sessions }: CommandHandlerOptions): DaemonHandler {
  return async (task, context) => {
    const definition = Object.hasOwn(commands, task.agent) ? (commands[task.agent] ?? fallback) : fallback;
    if (definition === null) throw new TaskFailure('AGENT_NOT_FOUND', `This daemon has no command for the agent "${task.agent}"`);
    let stderr: string | undefined;
    try {
      return await runCommand({
        ...describeRun(task, context, warn),
        sessions: new DiskSessions(sessions, task, context.keptWorkspace),
        definition: forTask(definition, task),
        diagnose: (found) => void (stderr = found.stderr ?? stderr),
      });
    } catch (error) {
      if (!(error instanceof TaskFailure) || stderr === undefined) throw error;
      const { code, message, details, retryAfterMs } = error;
      const later = retryAfterMs === undefined ? {} : { retryAfterMs };
      throw new TaskFailure(code, message, { details: { ...details, stderr }, cause: error, ...later });
    }
  };
}

/** A program's stdin stays open only while messages may come, and the fleet says whether it has a workspace. Errors: AGENT_ERROR. */
function forTask(definition: CommandDefinition, { takesInput, workspace }: DaemonTask): CommandDefinition {
  const own = definition.takesInput === true && !takesInput ? { ...definition, takesInput: false } : definition;
  if (workspace === null) return own;
  if (own.cwd === undefined) return { ...own, workspace: workspace.source };
  throw new TaskFailure('AGENT_ERROR', 'The agent has a workspace, and this daemon runs all commands in one folder (--cwd)', {
    isFinal: true,
  });
}

function describeRun(task: DaemonTask, context: DaemonContext, warn: (text: string) => void): Omit<CommandRun, 'definition' | 'diagnose'> {
  return {
    task: {
      id: task.id,
      tenant: task.tenant,
      agent: task.agent,
      input: task.input,
      system: task.system,
      session: task.session,
      source: 'api',
      visitor: null,
      context: task.context,
      metadata: {},
      correlationId: null,
      attempt: task.attempt,
    },
    context: { ...context, log: logTo(warn) },
    inputArrived: context.inputArrived,
    reportTotal: context.reportTotal,
    ...checkpointOf(task, context, warn),
    files: {
      bringIn: async (folder) => {
        for (const attachment of task.attachments) await context.download(attachment, join(folder, basename(attachment.name)));
      },
      takeOut: async ({ files, leftOut }) => {
        for (const { name, reason } of leftOut) warn(`Not kept of task ${task.id}: ${name} (${reason})`);
        if (files.length > 0 && task.artifactsUrl === null) return warn(`Files of task ${task.id} stay behind: it takes none`);
        for (const file of files) {
          // Read again for each try, because a stream can be read once.
          await context.attach(file.name.replaceAll('/', '-'), () => ReadableStream.from(file.read()));
        }
      },
    },
  };
}

/** Absent where the hub is of an older version. */
function checkpointOf(
  { id, checkpoint }: DaemonTask,
  { keepCheckpoint, askPeople }: DaemonContext,
  warn: (text: string) => void,
): Pick<CommandRun, 'checkpoint'> {
  if (checkpoint === null) return {};
  const { text, resumed, url: address, key, askMs } = checkpoint;
  let kept = text;
  const keep = async (next: string): Promise<void> => {
    if (next === kept) return;
    await keepCheckpoint(next).catch((error: unknown) => {
      if (!(error instanceof TaskFailure) || error.code !== 'OUTPUT_TOO_LARGE') throw error;
      warn(`A checkpoint of task ${id} was not kept, because it is too long`);
    });
    kept = next;
  };
  return { checkpoint: { text, resumed, address, key, keep, ...(askMs !== null && askMs > 0 && { askFor: askPeople }) } };
}

const ignore = (): void => undefined;

function logTo(warn: (text: string) => void): AgentLog {
  const write = (fields: object | string, message?: string): void =>
    warn(typeof fields === 'string' ? fields : (message ?? JSON.stringify(fields)));
  return { debug: ignore, info: ignore, warn: write, error: write };
}
