import type { CommandOptions, CommandRun } from './command-run.ts';
import type { CliSession } from './kept/cli-session.ts';
import type { CommandWatch } from './command-watch.ts';
import type { PermissionTool } from './permissions/permission-tool.ts';
import type { Permissions } from './permissions/permissions.ts';
import type { ServedProgram } from './presets/preset-server.ts';
import { serverOf } from './start/command-line.ts';
import type { RunningCommand } from './start/start-command.ts';

/** What a program leaves unread of its stdin, bytes: one that asks and reads no answer is ended. */
const MAX_UNREAD = 16 * 1024 * 1024;

interface ServeOptions {
  readonly command: RunningCommand;
  readonly session: CliSession;
  readonly permissions: Permissions;
  readonly zone: string;
}

/** Opens what talks to a program that asks for permissions over its stdin; undefined for one that does not. */
export function serveCommand(
  run: CommandRun,
  { settings }: Pick<CommandOptions, 'settings'>,
  { command, session, permissions, zone }: ServeOptions,
): ServedProgram | undefined {
  const { stdin, stop } = command;
  return serverOf(run.definition)?.open({
    zone,
    prompt: run.task.input,
    command: run.definition.command ?? [],
    cwd: session.cwd,
    session: session.started?.id ?? null,
    usedBefore: session.usedBefore,
    handshakeMs: settings.handshakeMs,
    send: (text) => {
      if (!stdin.writable) return;
      if (stdin.writableLength > MAX_UNREAD) return stop();
      stdin.write(text);
    },
    endInput: () => stdin.end(),
    stop,
    decide: (request) => permissions.decide(request),
    warn: (text, error) => run.context.log.warn({ event: 'command.server', ...(error !== undefined && { err: error }) }, text),
  });
}

interface AskingParts {
  readonly permissions: Permissions;
  /** By which a program asks; null where it asks over its stdin and stdout, or not at all. */
  readonly tool: PermissionTool | null;
  readonly served: ServedProgram | undefined;
  readonly watch: CommandWatch;
  readonly command: Pick<RunningCommand, 'stop'>;
}

/** Takes what a program asks, until it is closed. */
export function openAsking({ permissions, tool, served, watch, command }: AskingParts): { readonly close: () => Promise<void> } {
  permissions.watch({
    onWait: (isWaiting) => watch.wait(isWaiting),
    onUnanswered: () => (served ? served.interrupt() : command.stop()),
  });
  served?.start();
  tool?.start();
  return {
    close: async () => {
      served?.close();
      await permissions.close();
      await tool?.close();
    },
  };
}
