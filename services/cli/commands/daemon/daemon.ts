import { existsSync } from 'node:fs';
import { InvalidArgumentError, Option, type Command } from 'commander';
import type { CommandContext, ContextOf } from '../../command-context.ts';
import { parseCount, parseNames } from '../options.ts';
import { PRESET_NAMES, readDaemonSettings } from './daemon-settings.ts';
import { SERVICE_KINDS, type ServiceKind, serviceTokenFile, serviceUnit } from './service-unit.ts';

/** The options of `muster daemon`, as they are typed. */
export interface DaemonFlags {
  readonly hub?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly name?: string;
  readonly capabilities?: readonly string[];
  readonly slots: number;
  readonly agent?: Readonly<Record<string, string>>;
  readonly preset?: (typeof PRESET_NAMES)[number];
  readonly askPermissions?: boolean;
  readonly cwd?: string;
  readonly passEnv?: readonly string[];
  readonly takesInput?: boolean;
  readonly silenceMs?: number;
  readonly dataDir?: string;
  readonly printService?: ServiceKind;
}

const EXAMPLES = `
Examples:
  MUSTER_DAEMON_TOKEN=md_... npx muster daemon --hub https://muster.example.com --capabilities code --preset claude-code
  npx muster daemon --token-file ~/.muster/laptop.token --slots 3 -- my-agent --stdin
  npx muster daemon --token-file ~/.muster/laptop.token --agent coder='claude -p' --agent draw='python3 draw.py {prompt}'
  npx muster daemon --token-file ~/.muster/laptop.token --preset codex --print-service systemd

Each task gets a folder of its own. The prompt is on the command's stdin, or where an argument is {prompt}; what it writes to stdout is the
output. Files of the task are in "in"; files that the command leaves in "out" become the task's. A token comes from: npx muster daemons add

Exit codes: 0 drained, 1 another process uses the token, 2 wrong token, address or option, 130 a second Ctrl-C, or a closed terminal.`;

export function addDaemonCommand(program: Command, contextOf: ContextOf): void {
  program
    .command('daemon [command...]')
    .description('run tasks on this machine, each by a command, until Ctrl-C')
    .option('--hub <address>', 'address of the fleet or its hub (default: --url, MUSTER_URL, then the fleet of this machine)')
    .option('--token <token>', 'of this daemon; others on this machine can see it, so better MUSTER_DAEMON_TOKEN or --token-file')
    .option('--token-file <path>', 'a file that holds the token')
    .option('--name <name>', 'for people (default: the name of this machine)')
    .option('--capabilities <list>', 'what this machine can do, such as browser,code', parseNames)
    .option('--slots <count>', 'tasks at once', parseCount, 1)
    .option('--agent <name=command>', 'the command for the tasks of one agent; repeatable', parseAgent)
    .addOption(new Option('--preset <name>', 'a coding agent that Muster knows').choices(PRESET_NAMES))
    .option('--ask-permissions', 'with --preset claude-code or codex: ask people before it uses a tool that it may not use by itself')
    .option('--cwd <folder>', 'run every command here (default: a folder of its own, removed afterwards)')
    .option('--pass-env <list>', 'variables that commands may see, such as HOME,OPENAI_API_KEY; PATH and LANG they see anyway', parseNames)
    .option('--takes-input', "write messages for a running task to the command's stdin, a line each")
    .option('--silence-ms <ms>', 'end a command that writes nothing for so long (default: no bound)', parseCount)
    .option('--data-dir <folder>', 'where results wait for the hub (default: one per hub and token in ~/.muster/daemons)')
    .addOption(new Option('--print-service <kind>', 'print a unit that runs this daemon as a service').choices(SERVICE_KINDS))
    .addHelpText('after', EXAMPLES)
    .action((words: string[], flags: DaemonFlags, command: Command) => startDaemon(words, flags, contextOf(command)));
}

function printService(kind: ServiceKind, given: { words: readonly string[]; flags: DaemonFlags }, context: CommandContext): void {
  const { terminal, readVariable } = context;
  terminal.content(serviceUnit(kind, { ...given, hub: given.flags.hub ?? context.findAddress(), path: readVariable('PATH') ?? '' }));
  const file = serviceTokenFile(given.flags);
  if (!existsSync(file)) terminal.note(`It reads the token from ${file}, which is not there yet: write it there, readable for you alone.`);
}

async function startDaemon(words: readonly string[], flags: DaemonFlags, context: CommandContext): Promise<void> {
  if (flags.printService !== undefined) {
    printService(flags.printService, { words, flags }, context);
    return;
  }
  const settings = await readDaemonSettings(words, flags, context);
  // It loads what runs agents, which every other command would wait for.
  const { runDaemon } = await import('./run-daemon.ts');
  await runDaemon(settings, context);
}

function parseAgent(pair: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [name = '', ...rest] = pair.split('=');
  const command = rest.join('=').trim();
  if (name.trim() === '' || command === '') throw new InvalidArgumentError("Expected a name and a command, such as coder='claude -p'.");
  return { ...before, [name.trim()]: command };
}
