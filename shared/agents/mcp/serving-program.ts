import type { Readable, Writable } from 'node:stream';
import type { CommandOptions, CommandRun } from '../command/command-run.ts';
import { createMark } from '../command/processes/attempt-mark.ts';
import { endSandbox, openPlace } from '../command/run-command.ts';
import { startCommand } from '../command/start/start-command.ts';

/** A program that serves an attempt of another agent. */
export interface ServingProgram {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves once it has ended, with how. */
  readonly ended: Promise<string>;
  /** Ends it and all that it started, and removes its folder. Never rejects. */
  readonly close: () => Promise<void>;
}

/**
 * Starts a program whose stdin and stdout stay open, kept apart as that of a command agent is: under its own user and limits, with a folder of its
 * own. Errors: as `runCommand` for what cannot be started.
 */
export async function openServingProgram(run: CommandRun, options: CommandOptions): Promise<ServingProgram> {
  const mark = createMark(await options.fleetId(run.context.signal));
  const endTurn = await options.turn?.take(run.task.tenant, mark);
  try {
    const { user, folder } = await openPlace(mark, options);
    const place = { mark, folder, user };
    const remove = async (): Promise<void> => {
      const isRemoved = await folder.remove().then(
        () => true,
        () => false,
      );
      await user?.release(isRemoved);
      await endTurn?.();
    };
    try {
      const { stdin, stdout, stderr, ended, stop, finish } = await startCommand(run, options, place);
      const end = ended.then(
        ({ exitCode, signal, spawnCode }) => spawnCode ?? (exitCode === undefined ? String(signal) : `code ${exitCode}`),
      );
      const close = async (): Promise<void> => {
        stdin.end();
        stop();
        await finish();
        await endSandbox(place, run, options);
        await remove();
      };
      return { stdin, stdout, stderr, ended: end, close };
    } catch (error) {
      await remove();
      throw error;
    }
  } catch (error) {
    await endTurn?.();
    throw error;
  }
}
