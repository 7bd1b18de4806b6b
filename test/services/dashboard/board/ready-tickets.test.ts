import { beforeAll, describe, expect, it } from 'vitest';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { applyToTickets } from '../../../../services/dashboard/board/ticket-actions.ts';
import { OWN_PAGE } from '../running-dashboard.ts';
import { useDashboard } from '../use-dashboard.ts';

const API = '/board/api/queues';
const TICKETS = 3;
/** More than are read at a time. */
const MANY = 1100;

// Nobody takes tickets, and only the first of a queue go to BullMQ.
const dashboard = await useDashboard({ agents: { echo: { kind: 'echo' } }, dispatch: { lookAhead: TICKETS } });
const admin = await dashboard.signIn(['admin']);

interface Shown {
  id: string;
  name: string;
  data: { tenant: string; task: string; lane: string | null };
  priority?: number;
  externalUrl: { href: string };
}

interface List {
  queues: { name: string; counts: Record<string, number>; jobs: Shown[] }[];
}

async function act(method: string, path: string): Promise<Response> {
  return await dashboard.call(method, `${API}${path}`, { cookie: admin, headers: OWN_PAGE });
}

async function submit(request: Partial<AcceptRequest> = {}): Promise<string> {
  const { id } = await acceptTask(dashboard.parts, { tenant: 'default', agent: 'echo', input: 'hello', ...request });
  await dashboard.parts.relay.idle();
  return id;
}

async function line(page = 1, jobsPerPage = 10, queue = 'tasks'): Promise<List['queues'][number]> {
  const query = `?activeQueue=${queue}&status=prioritized&page=${page}&jobsPerPage=${jobsPerPage}`;
  const { queues } = (await (await act('GET', query)).json()) as List;
  const found = queues.find(({ name }) => name === queue);
  if (!found) throw new Error(`The board does not show ${queue}`);
  return found;
}

const statusOf = async (id: string, tenant = 'default'): Promise<string | undefined> =>
  (await readTask(dashboard.parts.ledger, tenant, id))?.state.status;

describe('the list of what waits', () => {
  const ids: string[] = [];
  beforeAll(async () => {
    for (let count = 0; count < 8; count += 1) ids.push(await submit({ session: `s${count}` }));
  });

  it('shows what waits for a slot in the order of turns, whether BullMQ has a job of it or not, page by page', async () => {
    const first = await line(1, 5);
    expect(first.counts['prioritized']).toBe(8);
    const second = await line(2, 5);
    expect([...first.jobs, ...second.jobs].map(({ data }) => data.task)).toEqual(ids);
    expect(second.jobs[0]).toMatchObject({
      id: `${ids[5]}@default`,
      name: 'echo · session:s5',
      data: { tenant: 'default', lane: 'session:s5' },
      priority: 5,
      externalUrl: { href: `/tasks/${ids[5]}?tenant=default` },
    });
    expect((await line(3, 5)).jobs).toEqual([]);
  });

  it('opens what waits, by the id that it has there', async () => {
    const read = async (id: string): Promise<{ status: string; job: Shown }> =>
      (await (await act('GET', `/tasks/${encodeURIComponent(id)}`)).json()) as { status: string; job: Shown };
    expect(await read(`${ids[6]}@default`)).toMatchObject({ status: 'prioritized', job: { data: { task: ids[6] } } });
    expect(await read(`${ids[0]}@default`)).toMatchObject({ status: 'prioritized', job: { id: ids[0] } });
    expect((await act('GET', `/tasks/${ids[6]}@other`)).status).toBe(404);
  });

  it('cancels the task of a ready ticket that is removed', async () => {
    expect((await act('PUT', `/tasks/${ids[7]}@default/clean`)).status).toBe(204);
    expect(await statusOf(ids[7] ?? '')).toBe('cancelled');
    expect((await line()).jobs.map(({ data }) => data.task)).toEqual(ids.slice(0, 7));
    expect((await act('PUT', `/tasks/${ids[6]}@default/promote`)).status).toBe(409);
  });

  it('has nothing left once it is emptied, and other tenants keep theirs', async () => {
    const others = [];
    for (let count = 0; count < 3; count += 1)
      others.push(await submit({ tenant: 'acme', session: 'private', lane: { name: `l${count}`, limit: 1 } }));
    const emptied = await act('PUT', '/tasks/empty');
    expect([emptied.status, await emptied.json()]).toEqual([200, { cancelled: 7, skipped: 0, left: 0 }]);
    const left = await line();
    expect(new Set(left.jobs.map(({ data }) => data.tenant))).toEqual(new Set(left.jobs.length > 0 ? ['acme'] : []));
    for (const id of ids) expect(await statusOf(id)).toBe('cancelled');
    for (const id of others) expect(await statusOf(id, 'acme')).not.toBe('cancelled');
  });

  it('is emptied of more than one page at once, which the audit log counts, and what there was no time for is said', async () => {
    await Promise.all(Array.from({ length: MANY }, () => acceptTask(dashboard.parts, { tenant: 'default', agent: 'echo', input: 'many' })));
    const list = { queue: dashboard.parts.queues.get(0, 'tasks'), state: 'prioritized', ownReady: () => Promise.resolve([]) } as const;
    await dashboard.parts.relay.idle();
    expect(await applyToTickets(list, () => Promise.resolve(), 0)).toMatchObject({
      done: 0,
      left: expect.toSatisfy((left: number) => left > 0) as number,
    });
    const emptied = await act('PUT', '/tasks/empty');
    expect([emptied.status, await emptied.json()]).toEqual([200, { cancelled: MANY, skipped: 0, left: 0 }]);
    const { redis, keys } = dashboard.parts;
    const entries = async (): Promise<string> => JSON.stringify(await redis.xrange(keys.tenant('default').audit, '-', '+'));
    await expect.poll(entries, { timeout: 10_000 }).toContain(`queues/tasks: ${MANY} cancelled`);
  });

  it('lets nobody change or read more of another tenant’s', async () => {
    const own = [];
    for (let count = 0; count < 5; count += 1) own.push(await submit({ tenant: 'acme', source: 'webhook', session: `secret ${count}` }));
    const { jobs } = await line(1, 10, 'webhooks');
    expect(jobs.map(({ data }) => data.task)).toEqual(own);
    expect(JSON.stringify(jobs)).not.toContain('secret');
    expect((await act('PUT', `/webhooks/${own[4]}@acme/clean`)).status).toBe(403);
    expect((await act('PUT', '/webhooks/clean/prioritized')).status).toBe(200);
    expect(await statusOf(own[4] ?? '', 'acme')).toBe('queued');
  });
});
