import type { Command } from 'commander';
import { z } from 'zod';
import { readAnswer } from '../client/api-client.ts';
import type { CommandContext, ContextOf } from '../command-context.ts';
import { showTable } from '../output/table.ts';
import { oneLine, shortAge } from '../output/terminal.ts';

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

const HEADING = ['WORKER', 'STATUS', 'RUNNING', 'CPU', 'MEMORY', 'LAST BEAT', 'VERSION', 'QUEUES'];
const MAX_CELL = 80;

export function addFleetCommands(program: Command, contextOf: ContextOf): void {
  const fleet = program
    .command('fleet')
    .description('list the workers: what they serve, run and use')
    .option('--json', 'print the answer as JSON')
    .action((options: { json?: boolean }, command: Command) => runFleet(options, contextOf(command)));
  fleet
    .command('drain <worker>')
    .description('let a worker take nothing more, and end once its tasks have')
    .action((worker: string, _options: unknown, command: Command) => runDrain(worker, contextOf(command)));
}

async function runFleet({ json }: { json?: boolean }, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().get('/v1/fleet');
  if (json === true) return terminal.json(answer);
  const { workers } = readAnswer(z.object({ workers: z.array(workerSchema) }), answer);
  if (workers.length === 0) return terminal.note('No worker runs.');
  const rows = workers.map((worker) => rowOf(worker, Date.now()).map((cell) => oneLine(cell, MAX_CELL)));
  showTable({ heading: HEADING, rows, nextCursor: null }, terminal);
  for (const { id, stopped } of workers) {
    for (const problem of stopped) terminal.note(terminal.paintNote(oneLine(`${id}: ${problem}`, terminal.columns ?? 2 * MAX_CELL), 'red'));
  }
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

async function runDrain(id: string, context: CommandContext): Promise<void> {
  const answer = await context.connect().post(`/v1/fleet/${encodeURIComponent(id)}/drain`);
  const { status, running } = readAnswer(workerSchema.pick({ status: true, running: true }), answer);
  if (status === 'dead') return context.terminal.line(`Worker ${id} is dead; it drains if it comes back.`);
  context.terminal.line(`Worker ${id} takes nothing more; ${running === 1 ? '1 task runs' : `${running ?? 'unknown'} tasks run`} there.`);
}
