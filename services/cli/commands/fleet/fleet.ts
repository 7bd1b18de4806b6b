import type { Command } from 'commander';
import { z } from 'zod';
import { readAnswer } from '../../client/api-client.ts';
import type { CommandContext, ContextOf } from '../../command-context.ts';
import { showTable } from '../../output/table.ts';
import type { JsonOptions } from '../options.ts';
import { oneLine, shortAge, type Terminal } from '../../output/terminal.ts';

const workerSchema = z.object({
  id: z.string(),
  status: z.string(),
  version: z.string().nullable(),
  queues: z.array(z.string()),
  slots: z.number().nullable(),
  running: z.number().nullable(),
  memoryMb: z.number().nullable(),
  cpu: z.number().nullable(),
  lastBeatAt: z.string(),
  stopped: z.array(z.string()).default([]),
});
type Worker = z.infer<typeof workerSchema>;

const fleetSchema = z.object({
  workers: z.array(workerSchema),
  hubs: z.array(workerSchema).default([]),
  daemons: z.array(z.object({ status: z.string(), running: z.number() })).default([]),
});

const HEADING = ['WORKER', 'STATUS', 'RUNNING', 'CPU', 'MEMORY', 'LAST BEAT', 'VERSION', 'QUEUES'];
const MAX_CELL = 80;

export function addFleetCommands(program: Command, contextOf: ContextOf): void {
  const fleet = program
    .command('fleet')
    .description('list the workers and hubs: what they serve, run and use')
    .option('--json', 'print the answer as JSON')
    .action((options: JsonOptions, command: Command) => runFleet(options, contextOf(command)));
  fleet
    .command('drain <worker>')
    .description('let a worker take nothing more, and end once its tasks have')
    .option('--json', 'print the answer as JSON')
    .action((worker: string, options: JsonOptions, command: Command) => runDrain(worker, options, contextOf(command)));
}

async function runFleet({ json }: JsonOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().get('/v1/fleet');
  if (json === true) return terminal.json(answer);
  const { workers, hubs, daemons } = readAnswer(fleetSchema, answer);
  if (workers.length + hubs.length + daemons.length === 0) return terminal.note('No worker runs.');
  if (workers.length + hubs.length > 0) showWorkers([...workers, ...hubs], terminal);
  showDaemons(daemons, terminal);
}

/** A hub serves the queue of remote tasks, and is else a worker. */
function showWorkers(workers: readonly Worker[], terminal: Terminal): void {
  const rows = workers.map((worker) => rowOf(worker, Date.now()).map((cell) => oneLine(cell, MAX_CELL)));
  showTable({ heading: HEADING, rows, nextCursor: null }, terminal);
  for (const { id, stopped } of workers) {
    for (const problem of stopped) terminal.note(terminal.paintNote(oneLine(`${id}: ${problem}`, terminal.columns ?? 2 * MAX_CELL), 'red'));
  }
}

const DAEMON_STATUSES = ['online', 'busy', 'draining', 'offline'];

/** As "Daemons: 3 online, 1 busy, 2 offline; 4 tasks run there. npx muster daemons lists your own." */
function showDaemons(daemons: z.infer<typeof fleetSchema>['daemons'], terminal: Terminal): void {
  if (daemons.length === 0) return;
  const counts = DAEMON_STATUSES.map((status) => [daemons.filter((daemon) => daemon.status === status).length, status] as const);
  const named = counts.flatMap(([count, status]) => (count === 0 ? [] : [`${count} ${status}`]));
  const running = daemons.reduce((total, daemon) => total + daemon.running, 0);
  const text = `Daemons: ${named.join(', ')}; ${running === 1 ? '1 task runs' : `${running} tasks run`} there. npx muster daemons lists your own.`;
  terminal.note(terminal.paintNote(text, 'dim'));
}

function rowOf({ id, status, running, slots, cpu, memoryMb, lastBeatAt, version, queues }: Worker, now: number): string[] {
  const used = running === null ? '' : `${running}/${slots ?? '?'}`;
  const beat = shortAge(now - Date.parse(lastBeatAt));
  return [
    id,
    status,
    used,
    cpu === null ? '' : cpu.toFixed(2),
    memoryMb === null ? '' : `${memoryMb} MB`,
    beat,
    version ?? '',
    queues.join(','),
  ];
}

async function runDrain(id: string, { json }: JsonOptions, context: CommandContext): Promise<void> {
  const answer = await context.connect().post(`/v1/fleet/${encodeURIComponent(id)}/drain`);
  if (json === true) return context.terminal.json(answer);
  const { status, running } = readAnswer(workerSchema.pick({ status: true, running: true }), answer);
  if (status === 'dead') return context.terminal.line(`Worker ${id} is dead; it drains if it comes back.`);
  context.terminal.line(`Worker ${id} takes nothing more; ${running === 1 ? '1 task runs' : `${running ?? 'unknown'} tasks run`} there.`);
}
