import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LEAVES } from '../../support/fleet/runs/delegating-agent.ts';
import { reportFigure } from '../../support/fleet/figures.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Sub-tasks of the root, and of each of these. */
const [MIDDLES, LEAVES_EACH] = testEnvironment.isChaos ? [25, 39] : [4, 6];
const KILLS = testEnvironment.isChaos ? 12 : 3;
const ALL = 1 + MIDDLES + MIDDLES * LEAVES_EACH;
const FILE = fileURLToPath(import.meta.resolve('../../support/fleet/runs/delegating-agent.ts'));
const WORKER = { MUSTER_QUEUES: 'tasks=4,background=2,maintenance=1' };
/** Leaves that two of them run. */
const SLOTS = 12;
const LEVELS = ['middle', 'leaf'];

interface Answer {
  status: string;
  output: string | null;
  result: Answer[] | { input: string } | null;
  error: { code: string; message: string } | null;
}

interface Listed {
  completedAt: string | null;
}

interface Node {
  agent: string;
  children: Node[];
}

let fleet: Fleet;
beforeEach(async () => {
  const agent = { kind: 'function' as const, file: FILE };
  const runaways = { maxDescendants: 2000 };
  fleet = await openFleet({ settings: { agents: { top: agent, middle: agent, leaf: agent }, runaways, worker: { leaseMs: 5000 } } });
  await fleet.start('api');
});
afterEach(async () => {
  await fleet.stop();
});

const listOf = async (query: string): Promise<Listed[]> => {
  const items: Listed[] = [];
  for (let next: string | null = ''; next !== null;) {
    const { body } = await fleet.client.call('GET', `/v1/tasks?limit=200&${query}${next}`);
    items.push(...(body['items'] as Listed[]));
    next = body['nextCursor'] === null ? null : `&cursor=${body['nextCursor'] as string}`;
  }
  return items;
};
const countOf = async (query: string): Promise<number> => (await listOf(query)).length;

const worked = (): string[] => {
  const file = `${fleet.directory}/${LEAVES}`;
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
};

const answersOf = ({ result }: { result?: unknown }): Answer[] => result as Answer[];

describe('a run that waits for sub-tasks', () => {
  it('leaves its slot to them: one slot is enough for three levels', async () => {
    await fleet.start('worker', { MUSTER_QUEUES: 'tasks=1,maintenance=1' });
    const id = await fleet.client.submit({ agent: 'top', input: 'r', priority: 7, context: { below: LEVELS, widths: [1, 2] } });
    const [task] = await fleet.client.ended([id], 20_000);
    const leaves = [0, 1].map((at) => ({ status: 'completed', output: `did r.0.${at}`, result: { input: `r.0.${at}` }, error: null }));
    expect(answersOf(task ?? {})).toEqual([{ status: 'completed', output: '', result: leaves, error: null }]);
    const [leaf] = (await fleet.client.call('GET', '/v1/tasks?agent=leaf')).body['items'] as Record<string, unknown>[];
    const { traceId } = (await fleet.client.call('GET', `/v1/tasks/${id}`)).body;
    expect(leaf).toMatchObject({ source: 'delegation', rootTaskId: id, depth: 2, priority: 5, session: null, traceId });
  });

  it('has each of them once and each result, while workers are killed', async () => {
    const start = async (): Promise<ServiceProcess> => await fleet.start('worker', WORKER);
    let [older, newer] = [await start(), await start()];
    const id = await fleet.client.submit({ agent: 'top', input: 'r', context: { below: LEVELS, widths: [MIDDLES, LEAVES_EACH], ms: 300 } });
    for (let kill = 0; kill < KILLS; kill += 1) {
      const some = Math.floor((kill * MIDDLES * LEAVES_EACH) / KILLS);
      await waitFor(() => worked().length > some, { deadlineMs: 60_000, what: `${some} sub-tasks` });
      await older.kill();
      [older, newer] = [newer, await start()];
    }
    const [task] = await fleet.client.ended([id], 120_000);
    expect(task?.status).toBe('completed');
    const leaves = answersOf(task ?? {}).flatMap(({ result }) => result as Answer[]);
    const inputs = Array.from({ length: MIDDLES }, (_, middle) =>
      Array.from({ length: LEAVES_EACH }, (_leaf, at) => `r.${middle}.${at}`),
    ).flat();
    expect(leaves.map(({ output }) => output)).toEqual(inputs.map((input) => `did ${input}`));
    expect(await countOf('')).toBe(ALL);
    const { root } = (await fleet.client.call('GET', `/v1/tasks/${id}/tree`)).body as { root: Node };
    expect(root).toMatchObject({ id, agent: 'top', status: 'completed', costMicroUsd: null, hasMore: false });
    expect(root.children.map(({ agent, children }) => [agent, children.length])).toEqual(
      Array.from({ length: MIDDLES }, () => ['middle', LEAVES_EACH]),
    );
    expect(new Set(worked())).toEqual(new Set(inputs));
  });

  it('goes on with all results when some failed, were unknown or would lead in a circle', async () => {
    await fleet.start('worker', WORKER);
    const context = { below: LEVELS, widths: [2, 2], fails: ['r.0.1'] };
    const circle = { below: ['middle', 'top'], widths: [1, 1] };
    const [failing, circular, unknown] = await Promise.all([
      fleet.client.submit({ agent: 'top', input: 'r', context }),
      fleet.client.submit({ agent: 'top', input: 'c', context: circle }),
      fleet.client.submit({ agent: 'top', input: 'u', context: { below: ['nobody'], widths: [1] } }),
    ]);
    const [failed, looped, lost] = await fleet.client.ended([failing, circular, unknown], 30_000);
    const statuses = answersOf(failed ?? {}).map(({ result }) => (result as Answer[]).map(({ status, error }) => error?.code ?? status));
    expect(statuses).toEqual([
      ['completed', 'RESOURCE_NOT_FOUND'],
      ['completed', 'completed'],
    ]);
    const error = { code: 'task.loop', message: 'Sub-tasks lead in a circle: top > middle > top' };
    expect(answersOf(looped ?? {})[0]?.result).toEqual([{ status: 'refused', output: null, result: null, error }]);
    expect(answersOf(lost ?? {})).toMatchObject([{ status: 'refused', error: { code: 'agent.unknown' } }]);
  });

  it.each(['', ', also those of a worker that is killed then'])('passes its cancel on to all of them%s', async (killed) => {
    const workers = await Promise.all([fleet.start('worker', WORKER), fleet.start('worker', WORKER)]);
    const context = { below: LEVELS, widths: [MIDDLES, LEAVES_EACH], ms: 60_000 };
    const id = await fleet.client.submit({ agent: 'top', input: 'r', context });
    await waitFor(async () => (await countOf('')) === ALL, { deadlineMs: 60_000, what: 'all sub-tasks' });
    await waitFor(async () => (await countOf('status=running')) === SLOTS, { deadlineMs: 60_000, what: 'all slots to be busy' });
    const since = Date.now();
    const cancelled = fleet.client.call('POST', `/v1/tasks/${id}/cancel`);
    if (killed !== '') await workers[0].kill();
    expect((await cancelled).body).toMatchObject({ status: 'cancelled', subTasks: ALL - 1 });
    await waitFor(async () => (await countOf('status=cancelled')) === ALL, { deadlineMs: 60_000, what: 'the cancel to reach all' });
    const ends = (await listOf('')).map(({ completedAt }) => Date.parse(completedAt ?? ''));
    reportFigure(
      `cancel of a tree of ${ALL} tasks, of which ${SLOTS} run${killed}`,
      `the last ended after ${Math.max(...ends) - since} ms`,
    );
  });

  it('lets one in its own session go first', async () => {
    await fleet.start('worker', WORKER);
    const context = { widths: [1], sharesSession: true };
    const id = await fleet.client.submit({ agent: 'top', input: 'r', session: 's', mode: 'queue', context });
    // Its lane would be held for longer.
    const [task] = await fleet.client.ended([id], 30_000);
    expect(answersOf(task ?? {})).toMatchObject([{ status: 'completed', output: 'did r.0' }]);
  });
});
