import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Daemon, HubRefusal } from '#daemon';
import { checkCommand, endOrphanedCommands, openCommandRunner } from '#shared/agents/index.ts';
import { installedVersion, KEEPS_WORKSPACES } from '#shared/config/index.ts';
import { TaskFailure } from '#shared/errors/index.ts';
import { CliProblem, EXIT } from '../../cli-problem.ts';
import type { CommandContext } from '../../command-context.ts';
import { commandHandler } from './command-handler.ts';
import { removeOldSessions, workspacesIn } from './disk-sessions.ts';
import { localTime } from '../../output/terminal.ts';
import { describeDaemonEvent } from './daemon-lines.ts';
import type { DaemonSettings } from './daemon-settings.ts';

/**
 * Runs a daemon until it has drained after Ctrl-C or SIGTERM. A second signal stops what runs, as a terminal that closes does at once (SIGHUP);
 * another one ends at once. Throws a `CliProblem` when the hub refuses it.
 */
export async function runDaemon(settings: DaemonSettings, context: CommandContext): Promise<void> {
  const { terminal, readVariable } = context;
  const options = { directory: process.cwd(), readSecret: readVariable };
  await checkCommands(settings, options);
  const fleetId = createHash('sha256').update(settings.dataDir).digest('hex').slice(0, 16);
  const ended = await endOrphanedCommands(fleetId);
  if (ended > 0) terminal.note(`Ended ${ended} processes that an earlier run of this daemon had left.`);
  await removeOldSessions(sessionsIn(settings.dataDir), context.clock.now());
  const runCommand = openCommandRunner({ ...options, fleetId: () => Promise.resolve(fleetId) });
  const daemon = openDaemon(settings, context, runCommand);
  const signals = watchSignals(daemon, context);
  try {
    await daemon.run();
    await signals.ended;
  } catch (error) {
    throw error instanceof HubRefusal ? refusalProblem(error) : error;
  } finally {
    signals.close();
  }
  const { unacknowledged } = daemon;
  if (unacknowledged > 0)
    terminal.note(`Results that the hub does not have yet: ${unacknowledged}. The next start sends them from ${settings.dataDir}.`);
}

function sessionsIn(dataDir: string): string {
  return join(dataDir, 'sessions');
}

function openDaemon(
  settings: DaemonSettings,
  { terminal, clock }: CommandContext,
  runCommand: ReturnType<typeof openCommandRunner>,
): Daemon {
  const { hub, token, name, slots, dataDir, commands, fallback } = settings;
  const note = (text: string): void => terminal.note(`${localTime(new Date(clock.now()))}  ${text}`);
  try {
    return new Daemon({
      hub,
      token,
      capabilities: capabilitiesOf(settings),
      slots,
      dataDir,
      version: installedVersion(),
      ...(name === undefined ? {} : { name }),
      ...(fallback === null ? { agents: Object.keys(commands) } : {}),
      workspaces: workspacesIn(sessionsIn(dataDir)),
      handler: commandHandler({ commands, fallback, runCommand, warn: note, sessions: sessionsIn(dataDir) }),
      onEvent: (event) => note(describeDaemonEvent(event)),
    });
  } catch (error) {
    throw error instanceof TypeError ? new CliProblem(error.message, { exitCode: EXIT.usage, cause: error }) : error;
  }
}

/** Commands that all run in one folder have no other. */
function capabilitiesOf({ capabilities, commands, fallback }: DaemonSettings): readonly string[] {
  const isBound = [...Object.values(commands), fallback].some((definition) => definition?.cwd !== undefined);
  return isBound ? capabilities : [...new Set([...capabilities, KEEPS_WORKSPACES])];
}

async function checkCommands({ commands, fallback }: DaemonSettings, options: Parameters<typeof checkCommand>[1]): Promise<void> {
  for (const definition of [...Object.values(commands), ...(fallback === null ? [] : [fallback])]) {
    await checkCommand(definition, options).catch((error: unknown) => {
      if (!(error instanceof TaskFailure)) throw error;
      throw new CliProblem(`The command cannot run on this machine: ${error.message}.`, { exitCode: EXIT.usage, cause: error });
    });
  }
}

interface SignalWatch {
  /** Resolves once what the signals began is done. */
  readonly ended: Promise<void>;
  close(): void;
}

function watchSignals(daemon: Daemon, context: CommandContext): SignalWatch {
  let count = 0;
  let ended: Promise<void> = Promise.resolve();
  const stop = (): void => {
    count = 2;
    context.terminal.note('Stopping what runs.');
    context.end(EXIT.interrupted);
    ended = daemon.stop();
  };
  const onSignal = (): void => {
    count += 1;
    if (count === 1) ended = daemon.drain();
    if (count === 2) stop();
    // What the commands started is killed when this process exits.
    if (count > 2) process.exit(EXIT.interrupted);
  };
  // A shell may send it besides the system. Without a listener it would end this process and leave the commands running.
  const onHangUp = (): void => {
    if (count < 2) stop();
  };
  const names = ['SIGINT', 'SIGTERM'] as const;
  for (const name of names) process.on(name, onSignal);
  process.on('SIGHUP', onHangUp);
  outliveTerminal();
  return {
    get ended() {
      return ended;
    },
    close: () => {
      for (const name of names) process.off(name, onSignal);
      process.off('SIGHUP', onHangUp);
    },
  };
}

/**
 * Nobody reads the notes once the terminal is closed, or Ctrl-C has ended the `tee` behind it: a write that fails must not end the process,
 * whose last notes come after its signals. Other commands end with the reader of their stdout.
 */
function outliveTerminal(): void {
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error').on('error', () => undefined);
}

function refusalProblem(refusal: HubRefusal): CliProblem {
  const fixes: Readonly<Record<HubRefusal['reason'], string>> = {
    token: 'List daemons with: npx muster daemons. A new token: npx muster daemons rotate <name>.',
    'taken-over': 'Stop the other one, or register this machine as a daemon of its own.',
    'not-a-hub': 'Check --hub: it is the address of the fleet, such as https://muster.example.com.',
    unreachable: '',
  };
  return new CliProblem(`${refusal.message}. ${fixes[refusal.reason]}`.trim(), {
    exitCode: refusal.reason === 'taken-over' ? EXIT.failed : EXIT.usage,
    code: `daemon.${refusal.reason}`,
    cause: refusal,
  });
}
