import { z } from 'zod';
import { CliProblem, EXIT } from '../../cli-problem.ts';
import { readAnswer } from '../../client/api-client.ts';
import type { CommandContext } from '../../command-context.ts';
import { formatTable, pageSchema } from '../../output/table.ts';
import { oneLine, pointInTime, shortAge, type Style } from '../../output/terminal.ts';

export const PATH = '/v1/daemons';

const text = z.string().nullable();
const texts = z.array(z.string());

/** A daemon as the API shows it. */
export const daemonViewSchema = z.object({
  id: z.string(),
  name: z.string(),
  user: text,
  capabilities: texts.nullable(),
  slots: z.number().nullable(),
  agents: texts.nullable(),
  enabled: z.boolean(),
  createdAt: z.string(),
  status: z.string(),
  running: z.number(),
  load: z.number().nullable(),
  lastBeatAt: text,
  connectedAt: text,
  hub: text,
  host: text,
  version: text,
  memoryMb: z.number().nullable(),
  tasks: texts,
  offers: z.object({ capabilities: texts, slots: z.number(), agents: texts.nullable() }).nullable(),
});
export type DaemonView = z.infer<typeof daemonViewSchema>;

export function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}

/** The daemon with this name or id. Throws a `CliProblem`: `daemon.not-found`, with the names that there are. */
export async function findDaemon(context: CommandContext, given: string): Promise<DaemonView> {
  const { items } = readAnswer(pageSchema(daemonViewSchema), await context.connect().get(PATH));
  const found = items.find(({ id }) => id === given) ?? items.find(({ name }) => name === given);
  if (found) return found;
  const known = items.slice(0, MAX_NAMED).map(({ name }) => `"${name}"`);
  const lines = known.length === 0 ? [] : [`There are: ${known.join(', ')}${items.length > MAX_NAMED ? ', and more' : ''}`];
  throw new CliProblem(`There is no daemon "${given}"`, { exitCode: EXIT.failed, code: 'daemon.not-found', lines });
}

const MAX_NAMED = 20;
const STYLES: Readonly<Record<string, Style>> = { online: 'green', busy: 'bold', draining: 'yellow', offline: 'dim' };
const MAX_CELL = 200;

type Row = [label: string, value: string | null];

/** Prints a daemon: what was decided first, then what its hub knows of it. */
export function showDaemon(daemon: DaemonView, { terminal, clock }: CommandContext): void {
  const { name, status } = daemon;
  terminal.line(`${terminal.paint(oneLine(name, MAX_CELL), 'bold')}  ${terminal.paint(status, STYLES[status] ?? 'bold')}`);
  const rows = [...decidedRows(daemon), ...liveRows(daemon, clock.now())];
  const shown = rows.flatMap(([label, value]) => (value === null ? [] : [['', label, oneLine(value, MAX_CELL)]]));
  for (const line of formatTable(shown)) terminal.line(line);
}

function decidedRows({ id, enabled, user, capabilities, slots, agents }: DaemonView): Row[] {
  return [
    ['id', id],
    ['enabled', enabled ? 'yes' : 'no'],
    ['tasks of', user ?? 'all users'],
    ['may declare', capabilities?.join(', ') ?? 'any capability'],
    ['may run', `${slots === null ? 'as many tasks as it declares' : `${slots} at once`}, of ${agentsOf(agents)}`],
  ];
}

function agentsOf(agents: readonly string[] | null): string {
  return agents?.join(', ') ?? 'any agent';
}

function liveRows({ offers, hub, host, version, memoryMb, load, connectedAt, lastBeatAt, running, tasks }: DaemonView, now: number): Row[] {
  return [
    ['offers', offers && `${offers.slots} at once, of ${agentsOf(offers.agents)}`],
    ['capabilities', offers && (offers.capabilities.join(', ') || 'none')],
    ['hub', hub],
    ['host', host],
    ['version', version],
    ['memory', memoryMb === null ? null : `${Math.round(memoryMb)} MB`],
    ['load', load === null ? null : load.toFixed(2)],
    ['connected', connectedAt && pointInTime(connectedAt)],
    ['last beat', lastBeatAt === null ? 'never' : `${shortAge(now - Date.parse(lastBeatAt))} ago`],
    ['runs', running === 0 ? null : tasks.join(', ') || String(running)],
  ];
}
