import { beforeAll, describe, expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { listRunning, type RunningTask } from '#shared/ledger/read/list-running.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { createApiService } from '../../../../services/api/create-api-service.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { OWN_PAGE } from '../running-dashboard.ts';
import { useDashboard } from '../use-dashboard.ts';

/** One more is reserved for critical tasks. */
const SLOTS = 3;
const TASKS = 20;
const DEADLINE_MS = 10_000;

/** Ends the attempt of a task, by its id. */
const endings = new Map<string, () => void>();
const held: AgentFunction = ({ id }) =>
  new Promise((resolve) => {
    endings.set(id, () => resolve('done'));
  });

const dashboard = await useDashboard(
  {
    agents: { held: { kind: 'function', run: held } },
    // No sweep fills BullMQ's window while the test reads.
    worker: { slots: SLOTS + 1, orphanCheckIntervalMs: 600_000 },
    dispatch: { lookAhead: 1 },
  },
  { more: (parts) => [createApiService(parts)] },
);
await useWorker(dashboard.parts);
const cookie = await dashboard.signIn(['admin']);

interface Shown {
  id: string;
  name: string;
  data: { task: string };
  processedOn: number;
  attempts: number;
}

async function read<Answer>(path: string): Promise<Answer> {
  return (await (await dashboard.call('GET', path, { cookie, headers: OWN_PAGE })).json()) as Answer;
}

async function board(query: string): Promise<{ counts: Record<string, number>; jobs: Shown[] }> {
  const { queues } = await read<{ queues: { name: string; counts: Record<string, number>; jobs: Shown[] }[] }>(
    `/board/api/queues?activeQueue=tasks&${query}`,
  );
  const found = queues.find(({ name }) => name === 'tasks');
  if (!found) throw new Error('The board does not show the queue');
  return found;
}

const running = async (): Promise<RunningTask[]> => await listRunning(dashboard.parts.ledger, 0);
const ticketsOfBull = async (): Promise<string[]> => await dashboard.parts.queues.get(0, 'tasks').getRanges(['active'], 0, -1);

/** Ends the oldest attempt, and waits until every slot runs again. */
async function next(): Promise<void> {
  const [oldest] = await running();
  endings.get(oldest?.task ?? '')?.();
  await slotsRun(({ task }) => task !== oldest?.task);
}

async function slotsRun(fits: (task: RunningTask) => boolean): Promise<void> {
  const what = 'every slot to run a task';
  await waitFor(async () => (await running()).filter((each) => fits(each) && endings.has(each.task)).length === SLOTS, {
    deadlineMs: DEADLINE_MS,
    what,
  });
}

describe('a busy fleet', () => {
  let inOrder: RunningTask[];
  let taken: string[];
  beforeAll(async () => {
    for (let count = 0; count < TASKS; count += 1) {
      await acceptTask(dashboard.parts, { tenant: 'default', agent: 'held', input: 'x', session: `s${count}` });
    }
    await slotsRun(() => true);
    // The first tickets come from BullMQ; the slots take what is behind them from the ledger.
    for (let ended = 0; ended < TASKS - SLOTS; ended += 1) {
      inOrder = await running();
      const tickets = await ticketsOfBull();
      taken = inOrder.map(({ task }) => task).filter((task) => !tickets.includes(task));
      if (taken.length > 0) return;
      await next();
    }
    throw new Error('No slot took a task from the ledger');
  });

  it('shows each task that runs once, in the order of their start, page by page', async () => {
    const pages = [];
    for (let page = 1; page <= SLOTS + 1; page += 1) pages.push((await board(`status=active&page=${page}&jobsPerPage=1`)).jobs);
    expect(pages.flat().map(({ data }) => data.task)).toEqual(inOrder.map(({ task }) => task));
    expect(pages.at(-1)).toEqual([]);
    const own = inOrder.find(({ task }) => task === taken[0]);
    expect(pages.flat().find(({ data }) => data.task === taken[0])).toMatchObject({
      id: `${taken[0]}@default`,
      name: `held · ${own?.state.lane}`,
      processedOn: own?.state.startedAt,
      attempts: 0,
      processedBy: own?.state.worker,
    });
  });

  it('counts them on the board and in the API', async () => {
    expect((await board('status=active&page=1&jobsPerPage=10')).counts['active']).toBe(SLOTS);
    const { items } = await read<{ items: { name: string; active: number }[] }>('/v1/queues');
    // A chore may be running in `maintenance`.
    const busy = items.filter(({ name, active }) => active > 0 && name !== 'maintenance');
    expect(busy).toEqual([expect.objectContaining({ name: 'tasks', active: SLOTS })]);
  });

  it('has them first among the latest of all states', async () => {
    const { jobs } = await board('page=1&jobsPerPage=10');
    expect(jobs.slice(0, SLOTS).map(({ data }) => data.task)).toEqual(inOrder.map(({ task }) => task));
    expect(new Set(jobs.map(({ id }) => id)).size).toBe(jobs.length);
  });
});
