import { InvalidArgumentError, type Command } from 'commander';
import { z } from 'zod';
import { commandPlace } from '#shared/config/index.ts';
import { readAnswer } from '../../client/api-client.ts';
import type { CommandContext, ContextOf } from '../../command-context.ts';
import { type ListOptions, showList } from '../../output/table.ts';
import { oneLine, shortAge } from '../../output/terminal.ts';
import { type DaemonView, daemonViewSchema, findDaemon, pathOf, PATH, showDaemon } from './daemon-view.ts';

interface AddOptions extends ListOptions {
  user?: string;
  capabilities?: string[];
  slots?: number;
  agents?: string[];
}

/** `muster daemons` registers and lists daemons; `muster daemon` is one. */
export function addDaemonsCommands(program: Command, contextOf: ContextOf): void {
  const daemons = program
    .command('daemons')
    .description('list the registered daemons, and what they do; "muster daemon" runs one')
    .option('--json', 'print the answer as JSON')
    .action((options: ListOptions, command: Command) => runList(options, contextOf(command)));
  daemons
    .command('list')
    .description('the same')
    .option('--json', 'print the answer as JSON')
    .action((options: ListOptions, command: Command) => runList(options, contextOf(command)));
  daemons
    .command('add <name>')
    .description('register a daemon, and print its token, which is shown only once, and how to start it')
    .option('--user <name>', 'only tasks of this user reach it (default: tasks of all)')
    .option('--capabilities <list>', 'what it may declare, separated by commas (default: whatever it declares)', parseList)
    .option('--slots <count>', 'tasks that it may run at once (default: as many as it declares)', parseSlots)
    .option('--agents <list>', 'agents whose tasks it may run (default: any)', parseList)
    .option('--json', 'print the answer as JSON')
    .action((name: string, options: AddOptions, command: Command) => runAdd(name, options, contextOf(command)));
  addChanges(daemons, contextOf);
}

function addChanges(daemons: Command, contextOf: ContextOf): void {
  const changes: [name: string, description: string, run: typeof runShow][] = [
    ['show', 'show a daemon: what was decided, and what its hub knows of it', runShow],
    ['rotate', 'print another token for it; the former one ends at once', runRotate],
    ['disable', 'end its connection, and accept none until it is enabled again', (...args) => runSwitch(false, ...args)],
    ['enable', 'let it connect again', (...args) => runSwitch(true, ...args)],
    ['remove', 'remove it with its token; tasks that name it as their target fail', runRemove],
  ];
  for (const [name, description, run] of changes) {
    daemons
      .command(`${name} <daemon>`)
      .description(`${description}; takes its name or id`)
      .option('--json', 'print the answer as JSON')
      .action((given: string, options: ListOptions, command: Command) => run(given, options, contextOf(command)));
  }
}

function parseList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function parseSlots(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a number from 1 to 10000, without a fraction.');
}

function runList(options: ListOptions, context: CommandContext): Promise<void> {
  return showList(
    {
      path: PATH,
      item: daemonViewSchema,
      heading: ['DAEMON', 'NAME', 'STATUS', 'RUNNING', 'LOAD', 'LAST BEAT', 'HOST', 'VERSION', 'CAPABILITIES'],
      row: (daemon) => rowOf(daemon, context.clock.now()),
      empty: 'There is no daemon. Register one: npx muster daemons add laptop',
    },
    options,
    context,
  );
}

function rowOf(daemon: DaemonView, now: number): string[] {
  const { id, name, enabled, status, load, lastBeatAt, host, version } = daemon;
  const beat = lastBeatAt === null ? 'never' : shortAge(now - Date.parse(lastBeatAt));
  const machine = [load === null ? '' : load.toFixed(2), beat, host ?? '', version ?? ''];
  return [id, name, enabled ? status : 'disabled', slotsOf(daemon), ...machine, capabilitiesOf(daemon)];
}

function slotsOf({ running, offers, slots }: DaemonView): string {
  return `${running}/${offers?.slots ?? slots ?? '?'}`;
}

function capabilitiesOf({ offers, capabilities }: DaemonView): string {
  return (offers?.capabilities ?? capabilities ?? []).join(',');
}

const withTokenSchema = daemonViewSchema.extend({ token: z.string() });

async function runAdd(name: string, { json, user, capabilities, slots, agents }: AddOptions, context: CommandContext): Promise<void> {
  const answer = await context.connect().post(PATH, { body: { name, user, capabilities, slots, agents } });
  showToken(answer, json, context);
}

async function runRotate(given: string, { json }: ListOptions, context: CommandContext): Promise<void> {
  const { id } = await findDaemon(context, given);
  showToken(await context.connect().post(`${pathOf(id)}/rotate`), json, context);
}

/** The token alone on stdout, for scripts; how to start the daemon beside it. */
function showToken(answer: unknown, json: boolean | undefined, context: CommandContext): void {
  const { terminal } = context;
  if (json === true) return terminal.json(answer);
  const { token, ...daemon } = readAnswer(withTokenSchema, answer);
  terminal.line(token);
  terminal.note(
    terminal.paintNote(
      `Daemon "${oneLine(daemon.name, MAX_NAME)}" (${daemon.id}); the token is shown only once. Start it, ${commandPlace()}:`,
      'dim',
    ),
  );
  terminal.note(startLine(daemon, token, context.connect().url));
}

const MAX_NAME = 80;

/** What a person types on the daemon's machine. The environment hides the token from its other users. */
function startLine({ capabilities, slots }: DaemonView, token: string, url: string): string {
  const declared = capabilities === null || capabilities.length === 0 ? '' : ` --capabilities ${quoted(capabilities.join(','))}`;
  const atOnce = slots === null || slots === 0 ? '' : ` --slots ${slots}`;
  return `MUSTER_DAEMON_TOKEN=${token} npx muster daemon --hub ${quoted(url)}${declared}${atOnce} -- <command>`;
}

/** A word that a shell takes as it is. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

async function runShow(given: string, { json }: ListOptions, context: CommandContext): Promise<void> {
  const daemon = await findDaemon(context, given);
  if (json === true) return context.terminal.json(await context.connect().get(pathOf(daemon.id)));
  showDaemon(daemon, context);
}

async function runSwitch(enabled: boolean, given: string, { json }: ListOptions, context: CommandContext): Promise<void> {
  const { id, name } = await findDaemon(context, given);
  const answer = await context.connect().patch(pathOf(id), { body: { enabled } });
  if (json === true) return context.terminal.json(answer);
  context.terminal.line(`Daemon "${name}" is ${enabled ? 'enabled' : 'disabled'}.`);
}

async function runRemove(given: string, { json }: ListOptions, context: CommandContext): Promise<void> {
  const { id, name } = await findDaemon(context, given);
  const answer = await context.connect().delete(pathOf(id));
  if (json === true) return context.terminal.json(answer);
  context.terminal.line(`Daemon "${name}" is removed.`);
}
