import { expect, it } from 'vitest';
import { AttemptLog } from '#shared/execution/attempt/attempt-log.ts';
import { createLog } from '#shared/log/index.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { useParts } from '../../../support/use-parts.ts';
import { readTasks } from '#shared/ledger/index.ts';

const parts = await useParts({ agents: { echo: { kind: 'echo' } } });

interface Line {
  event?: string;
  [field: string]: unknown;
}

function openLog(): { lines: Line[]; log: ReturnType<typeof createLog> } {
  const lines: Line[] = [];
  const log = createLog({ level: 'info', service: 'test', destination: { write: (line) => void lines.push(JSON.parse(line) as Line) } });
  return { lines, log };
}

it('a queued task says how many tasks are open, and every line of an attempt its daemon', async () => {
  const { lines, log } = openLog();
  const accept = async (): Promise<string> => (await acceptTask({ ...parts, log }, { tenant: 'default', agent: 'echo', input: 'hi' })).id;
  await accept();
  const id = await accept();
  const queued = lines.filter(({ event }) => event === 'task.queued');
  expect(queued.map(({ queueDepth }) => queueDepth)).toEqual([1, 2]);
  expect(queued.every((line) => 'estimatedWaitMs' in line)).toBe(true);
  const [task] = await readTasks(parts.ledger, 'default', [id]);
  if (!task) throw new Error('no task');
  const remote = new AttemptLog(log, task.body, { attempt: 1, daemon: 'laptop' });
  remote.info({ event: 'task.started' }, 'started');
  remote.warn('note');
  new AttemptLog(log, task.body, { attempt: 1 }).info({ event: 'task.started' }, 'started');
  expect(lines.slice(-3).map(({ daemon }) => daemon)).toEqual(['laptop', 'laptop', undefined]);
});
