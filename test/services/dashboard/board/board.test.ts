import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { TASK_QUEUES } from '#shared/config/sources.ts';
import { TaskFailure } from '#shared/errors/task-failure.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { retryTask } from '#shared/queue/tickets/change-waiting-task.ts';
import type { TaskState } from '#shared/tasks/task-state.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { OWN_PAGE, type CallOptions } from '../running-dashboard.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { useDashboard } from '../use-dashboard.ts';

const API = '/board/api/queues';
let isProviderBroken = true;

/** Fails for good until the test repairs its provider. */
const brittle: AgentFunction = () => {
  if (isProviderBroken) throw new TaskFailure('INVALID_INPUT', 'the provider is broken');
  return Promise.resolve('mended');
};

const dashboard = await useDashboard({
  agents: { echo: { kind: 'echo' }, brittle: { kind: 'function', run: brittle } },
  worker: { orphanCheckIntervalMs: 100 },
});
await useWorker(dashboard.parts);
const operator = await dashboard.signIn(['operate']);
const reader = await dashboard.signIn(['read']);
beforeEach(async () => {
  isProviderBroken = true;
  await act('PUT', '/resume');
});

const act = async (method: string, path: string, options: CallOptions = {}): Promise<Response> =>
  await dashboard.call(method, `${API}${path}`, { cookie: operator, headers: OWN_PAGE, ...options });

async function readOnlyModes(cookie: string): Promise<boolean[]> {
  const list = (await (await act('GET', '', { cookie })).json()) as BoardList;
  return list.queues.map(({ readOnlyMode }) => readOnlyMode);
}

async function submit(request: Partial<AcceptRequest> = {}): Promise<string> {
  const { id } = await acceptTask(dashboard.parts, { tenant: 'default', agent: 'echo', input: 'hello', ...request });
  await dashboard.parts.relay.idle();
  return id;
}

async function stateOf(id: string, tenant = 'default'): Promise<TaskState> {
  const task = await readTask(dashboard.parts.ledger, tenant, id);
  if (!task) throw new Error(`There is no task ${id}`);
  return task.state;
}

async function reaches(id: string, status: TaskState['status'], tenant = 'default'): Promise<void> {
  await waitFor(async () => (await stateOf(id, tenant)).status === status, { deadlineMs: 8000, what: `task ${id} to be ${status}` });
}

async function ticketIsIn(id: string, wanted: string): Promise<void> {
  const { queues } = dashboard.parts;
  await waitFor(async () => (await queues.get(0, 'tasks').getJobState(id)) === wanted, {
    deadlineMs: 8000,
    what: `ticket ${id} to be ${wanted}`,
  });
}

async function failedTask(request: Partial<AcceptRequest> = {}): Promise<string> {
  const id = await submit({ agent: 'brittle', ...request });
  await reaches(id, 'permanently_failed', request.tenant);
  await ticketIsIn(id, 'failed');
  return id;
}

/** A ticket that no worker takes, because its queue is paused. */
async function waitingTask(request: Partial<AcceptRequest> = {}): Promise<string> {
  const id = await submit(request);
  await ticketIsIn(id, 'prioritized');
  return id;
}

/** A ticket that BullMQ delays, as when the fleet was full. */
async function delayedTask(): Promise<string> {
  const id = await waitingTask();
  const queue = dashboard.parts.queues.get(0, 'tasks');
  await queue.remove(id);
  await queue.add('echo', { tenant: 'default', task: id }, { jobId: id, delay: 3_600_000 });
  return id;
}

const ticketExists = async (id: string): Promise<boolean> => (await dashboard.parts.queues.get(0, 'tasks').getJob(id)) !== undefined;

describe('the board', () => {
  it('shows every queue, and links a ticket to the page of its task', async () => {
    const id = await submit({ session: 'talk' });
    await ticketIsIn(id, 'completed');
    const list = (await (await act('GET', '?activeQueue=tasks&status=completed&page=1&jobsPerPage=10')).json()) as BoardList;
    expect(list.queues.map(({ name }) => name)).toEqual([
      'critical',
      'chat',
      'webhooks',
      'schedules',
      'tasks',
      'background',
      'remote',
      'deliveries',
      'replies',
      'maintenance',
      'ticks',
    ]);
    const ticket = list.queues.find(({ name }) => name === 'tasks')?.jobs.find((job) => job.id === id);
    expect(ticket).toMatchObject({
      data: { tenant: 'default', task: id, lane: 'session:talk' },
      externalUrl: { href: `/tasks/${id}?tenant=default` },
    });
    const page = await dashboard.call('GET', ticket?.externalUrl.href ?? '', { cookie: reader });
    expect(page.status).toBe(200);
    expect(ticket?.externalUrl.href).toContain(`/tasks/${id}`);
    expect(await page.text()).toContain('A console');
  });

  it('loads only files of this site and runs no inline script', async () => {
    const answer = await dashboard.call('GET', '/board', { cookie: operator });
    const page = await answer.text();
    expect(page).toContain('"boardTitle":"Muster"');
    expect(page).not.toMatch(/https?:|<style|style=/);
    expect(answer.headers.get('content-security-policy')).toContain("script-src 'self';");
    const assets = [...page.matchAll(/(?:src|href)="(static\/[^"]+)"/g)].map(([, path]) => path);
    expect(assets.length).toBeGreaterThan(3);
    for (const path of assets) {
      const asset = await dashboard.call('GET', `/board/${path}`, { cookie: operator });
      expect(asset.status).toBe(200);
      // An unread large answer keeps its socket until the garbage collection.
      expect((await asset.arrayBuffer()).byteLength).toBeGreaterThan(0);
    }
  });

  it('needs a key of tenant default, because it shows the tickets of all tenants', async () => {
    const otherTenant = await dashboard.signIn(['admin'], 'acme');
    const page = await dashboard.call('GET', '/board', { cookie: otherTenant });
    expect(page.status).toBe(403);
    expect(await page.text()).toContain('needs a key of tenant');
    const call = await act('GET', '', { cookie: otherTenant });
    expect(call.status).toBe(403);
    expect(await call.json()).toMatchObject({ code: 'auth.forbidden' });
  });

  it('has no actions for a key without operate, in the pages and at the addresses', async () => {
    const ours = ['deliveries', 'replies', 'maintenance', 'ticks'].map(() => true);
    expect(await readOnlyModes(reader)).toEqual([...TASK_QUEUES.map(() => true), ...ours]);
    expect(await readOnlyModes(operator)).toEqual([...TASK_QUEUES.map(() => false), ...ours]);
    const id = await failedTask();
    for (const path of [`/tasks/${id}/retry`, `/tasks/${id}/clean`, '/tasks/pause', '/pause', '/tasks/empty', '/tasks/clean/failed']) {
      const answer = await act('PUT', path, { cookie: reader });
      expect(answer.status).toBe(403);
      expect(await answer.json()).toMatchObject({ code: 'auth.forbidden', message: expect.stringContaining('operate') as string });
    }
    expect(await ticketExists(id)).toBe(true);
  });

  it('does not stop the chores of the fleet', async () => {
    await act('PUT', '/pause');
    expect(await dashboard.parts.queues.get(0, 'maintenance').isPaused()).toBe(false);
    expect((await act('PUT', '/maintenance/pause')).status).toBe(405);
    expect((await act('PUT', '/maintenance/empty')).status).toBe(409);
    expect((await act('PUT', '/maintenance/job-schedulers/reconcile/remove')).status).toBe(409);
  });
});

describe('retrying a ticket', () => {
  it('reopens and runs its task, and removes the failed ticket', async () => {
    const id = await failedTask();
    isProviderBroken = false;
    expect((await act('PUT', `/tasks/${id}/retry`)).status).toBe(200);
    await reaches(id, 'completed');
    const { ticket } = await stateOf(id);
    const attempts = (await readTask(dashboard.parts.ledger, 'default', id))?.attempts ?? [];
    expect(ticket).toBe(2);
    expect(attempts.map(({ status }) => status)).toEqual(['failed', 'success']);
    expect(await ticketExists(id)).toBe(false);
  });

  it('puts it behind what waits in its session', async () => {
    const failed = await failedTask({ session: 'line' });
    await act('PUT', '/tasks/pause');
    const ahead = await waitingTask({ session: 'line' });
    expect((await act('PUT', `/tasks/${failed}/retry`)).status).toBe(200);
    expect(await stateOf(failed)).toMatchObject({ status: 'pending', gate: 'lane' });
    isProviderBroken = false;
    await act('PUT', '/tasks/resume');
    await reaches(failed, 'completed');
    expect((await stateOf(failed)).startedAt).toBeGreaterThanOrEqual((await stateOf(ahead)).completedAt ?? Infinity);
  });

  it('is refused with the reason when the task has moved on, is gone, or never failed', async () => {
    const id = await failedTask();
    const ticket = await dashboard.parts.queues.get(0, 'tasks').getJob(id);
    isProviderBroken = false;
    await act('PUT', `/tasks/${id}/retry`);
    await reaches(id, 'completed');
    // A page that was loaded before still has the button.
    expect((await act('PUT', `/tasks/${id}/retry`)).status).toBe(404);
    const completed = await act('PUT', `/tasks/${ticket?.id}.2/retry`);
    expect(completed.status).toBe(409);
    expect(await completed.json()).toMatchObject({
      code: 'task.wrong-state',
      message: expect.stringContaining('only a failed one') as string,
    });
  });

  it('of all failed tickets applies to each, and counts how many the ledger refused', async () => {
    await act('PUT', '/tasks/clean/failed');
    const ids = [await failedTask(), await failedTask()];
    const [reopened = ''] = ids;
    isProviderBroken = false;
    const { redis, keys } = dashboard.parts;
    // The record of this task has expired.
    for (const hash of [keys.tenant('default').states, keys.tenant('default').bodies]) await redis.hdel(hash, reopened);
    const answer = await act('PUT', '/tasks/retry/failed');
    const { retried, skipped } = (await answer.json()) as { retried: number; skipped: number };
    expect(skipped).toBe(1);
    expect(retried).toBeGreaterThanOrEqual(1);
    await reaches(ids[1] ?? '', 'completed');
    expect(await ticketExists(reopened)).toBe(true);
    await act('PUT', `/tasks/${reopened}/clean`);
    expect(await ticketExists(reopened)).toBe(false);
  });
});

it('a task that was retried outside of the board is no longer among the failed tickets', async () => {
  const id = await failedTask();
  isProviderBroken = false;
  await retryTask(dashboard.parts, 'default', id);
  await reaches(id, 'completed');
  expect(await ticketExists(id)).toBe(false);
});

describe('tickets of other tenants', () => {
  const secret = { tenant: 'acme', session: 'telegram:+4915112345678' };
  let admin: string;
  let failed: string;
  let waiting: string;

  beforeAll(async () => {
    isProviderBroken = true;
    admin = await dashboard.signIn(['admin']);
    failed = await failedTask(secret);
    await act('PUT', '/tasks/pause');
    waiting = await waitingTask({ tenant: 'acme' });
    const draft = { name: 'Acme', disabled: false, limits: null, createdAt: 1 };
    await dashboard.parts.tenants.create('acme', draft);
  });
  afterAll(async () => {
    const { redis, keys } = dashboard.parts;
    await redis.hdel(keys.fleet.tenants, 'acme');
    await dashboard.parts.tenants.refresh();
    await act('PUT', '/tasks/resume');
  });

  it('are shown only to an administrator of the installation', async () => {
    for (const cookie of [operator, reader]) {
      const page = await dashboard.call('GET', '/board', { cookie });
      expect(page.status).toBe(403);
      expect(await page.text()).toContain('with the scope &quot;admin&quot;');
      expect((await act('PUT', '/tasks/clean/failed', { cookie })).status).toBe(403);
    }
    expect((await dashboard.call('GET', '/board', { cookie: admin })).status).toBe(200);
  });

  it('show neither the person, nor the error', async () => {
    const answers = await Promise.all([
      act('GET', '?activeQueue=tasks&status=failed&page=1&jobsPerPage=100', { cookie: admin }),
      act('GET', `/tasks/${failed}`, { cookie: admin }),
    ]);
    for (const answer of answers) {
      const text = await answer.text();
      expect(text).toContain(failed);
      expect(text).not.toContain('+49');
      const { queues, job } = JSON.parse(text) as Partial<BoardList> & { job?: { failedReason: string } };
      const shown = queues?.find(({ name }) => name === 'tasks')?.jobs.find(({ id }) => id === failed) ?? job;
      expect(shown).toMatchObject({ data: { tenant: 'acme', lane: null }, failedReason: 'It failed; only its tenant sees the reason.' });
    }
  });

  it('are changed by no button', async () => {
    const each: [path: string, status: number][] = [
      [`/tasks/${failed}/retry`, 403],
      [`/tasks/${failed}/clean`, 403],
      [`/tasks/${waiting}/clean`, 403],
      ['/tasks/retry/failed', 200],
      ['/tasks/clean/prioritized', 200],
      ['/tasks/clean/failed', 200],
      ['/tasks/empty', 200],
    ];
    for (const [path, status] of each) expect([path, (await act('PUT', path, { cookie: admin })).status]).toEqual([path, status]);
    expect([(await stateOf(failed, 'acme')).status, (await stateOf(waiting, 'acme')).status]).toEqual(['permanently_failed', 'queued']);
    expect([await ticketExists(failed), await ticketExists(waiting)]).toEqual([true, true]);
  });
});

it('a ticket has the priority of its task', async () => {
  await act('PUT', '/tasks/pause');
  const id = await waitingTask({ priority: 8 });
  const { job } = (await (await act('GET', `/tasks/${id}`)).json()) as { job: { priority: number; opts: { priority: number } } };
  expect([job.priority, job.opts.priority]).toEqual([8, 8]);
});

describe('removing a ticket', () => {
  it('that waits cancels its task and the tasks below it', async () => {
    await act('PUT', '/tasks/pause');
    const parent = await waitingTask();
    const child = await waitingTask({ parentTaskId: parent });
    expect((await act('PUT', `/tasks/${parent}/clean`)).status).toBe(204);
    expect(await stateOf(parent)).toMatchObject({
      status: 'cancelled',
      outcome: { kind: 'cancelled', reason: 'ticket removed in Bull Board' },
    });
    expect(await stateOf(child)).toMatchObject({ status: 'cancelled' });
    expect(await ticketExists(parent)).toBe(false);
  });

  it('that is delayed cancels its task', async () => {
    await act('PUT', '/tasks/pause');
    const id = await delayedTask();
    expect((await act('PUT', `/tasks/${id}/clean`)).status).toBe(204);
    expect(await stateOf(id)).toMatchObject({ status: 'cancelled' });
  });

  it('that has ended leaves the task as it is', async () => {
    const id = await failedTask();
    expect((await act('PUT', `/tasks/${id}/clean`)).status).toBe(204);
    expect(await stateOf(id)).toMatchObject({ status: 'permanently_failed' });
    expect(await ticketExists(id)).toBe(false);
  });

  it('that a worker has is refused', async () => {
    const id = await submit({ input: 'one two three', context: { paceMs: 300 } });
    await ticketIsIn(id, 'active');
    const answer = await act('PUT', `/tasks/${id}/clean`);
    expect(answer.status).toBe(409);
    expect(await answer.json()).toMatchObject({
      code: 'task.wrong-state',
      message: expect.stringContaining('A worker has this ticket') as string,
    });
    await reaches(id, 'completed');
  });

  it.each([
    ['clean/prioritized', waitingTask],
    ['clean/delayed', delayedTask],
    ['empty', waitingTask],
  ])('of a whole list by %s cancels the tasks one by one', async (path, make) => {
    await act('PUT', '/tasks/pause');
    const ids = [await make(), await make()];
    expect((await act('PUT', `/tasks/${path}`)).status).toBe(200);
    for (const id of ids) {
      expect(await stateOf(id)).toMatchObject({ status: 'cancelled' });
      expect(await ticketExists(id)).toBe(false);
    }
  });
});

describe('an action that would bypass the ledger', () => {
  it('is refused with a sentence for people, and changes nothing', async () => {
    await act('PUT', '/tasks/pause');
    const id = await delayedTask();
    const refused: [method: string, path: string, json?: unknown][] = [
      ['POST', '/tasks/add', { name: 'x', data: {}, options: {} }],
      ['PUT', `/tasks/${id}/promote`],
      ['PUT', '/tasks/promote'],
      ['PATCH', `/tasks/${id}/update-data`, { jobData: { tenant: 'acme', task: id } }],
      ['PATCH', `/tasks/${id}/delay`, { runAt: Date.now() }],
      ['PATCH', `/tasks/${id}/priority`, { priority: 1 }],
      ['PUT', '/tasks/obliterate', { force: true }],
      ['PUT', '/tasks/concurrency', { concurrency: 1 }],
      ['PUT', '/tasks/rate-limit', { max: 1, duration: 1000 }],
      ['PUT', '/tasks/rate-limit/release'],
      ['PUT', '/tasks/clean/active'],
      ['PUT', '/tasks/clean/constructor'],
      ['PUT', '/tasks/retry/completed'],
      ['PUT', `/tasks/${id}/remove-unprocessed-children`],
    ];
    for (const [method, path, json] of refused) {
      const answer = await act(method, path, json === undefined ? {} : { json });
      expect([path, answer.status]).toEqual([path, 409]);
      expect(await answer.json()).toMatchObject({ error: 'Not from here', message: expect.stringMatching(/\.$/) as string });
    }
    const ticket = await dashboard.parts.queues.get(0, 'tasks').getJob(id);
    expect(ticket?.data).toEqual({ tenant: 'default', task: id });
    expect(await ticket?.getState()).toBe('delayed');
    expect(await stateOf(id)).toMatchObject({ status: 'queued' });
  });

  it('is distinguished from an action on a missing queue', async () => {
    expect((await act('PUT', '/nothing/empty')).status).toBe(404);
    expect((await act('PUT', '/tasks/nothing/clean')).status).toBe(404);
  });
});

interface BoardList {
  queues: { name: string; readOnlyMode: boolean; jobs: { id: string; data: unknown; externalUrl: { href: string } }[] }[];
}
