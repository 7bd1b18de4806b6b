import { beforeAll, describe, expect, it } from 'vitest';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { OWN_PAGE } from '../running-dashboard.ts';
import { useDashboard } from '../use-dashboard.ts';

const API = '/board/api/queues';
const TICKETS = 1;

// The test claims what is ready, as a free slot does.
const dashboard = await useDashboard({ agents: { echo: { kind: 'echo' } }, dispatch: { lookAhead: TICKETS } });
const admin = await dashboard.signIn(['admin']);

interface Shown {
  id: string;
  data: { tenant: string; task: string; lane: string | null };
}

async function act(method: string, path: string): Promise<Response> {
  return await dashboard.call(method, `${API}${path}`, { cookie: admin, headers: OWN_PAGE });
}

async function active(): Promise<{ text: string; jobs: Shown[]; count: number }> {
  const text = await (await act('GET', '?activeQueue=tasks&status=active&page=1&jobsPerPage=10')).text();
  const { queues } = JSON.parse(text) as { queues: { name: string; counts: { active: number }; jobs: Shown[] }[] };
  const found = queues.find(({ name }) => name === 'tasks');
  if (!found) throw new Error('The board does not show the queue');
  return { text, jobs: found.jobs, count: found.counts.active };
}

/** Accepts a task that waits for its turn, and claims it. */
async function startReady(tenant: string, session: string): Promise<string> {
  const { id } = await acceptTask(dashboard.parts, { tenant, agent: 'echo', input: 'hello', session });
  const lane = `session:${session}`;
  const { kind } = await claimTask(dashboard.parts.ledger, { tenant, id, lane }, 'worker-1');
  if (kind !== 'claimed') throw new Error(`The task was not claimed: ${kind}`);
  return id;
}

const statusOf = async (id: string, tenant: string): Promise<string | undefined> =>
  (await readTask(dashboard.parts.ledger, tenant, id))?.state.status;

describe('a task that a slot took from the ledger', () => {
  let own: string;
  let other: string;
  beforeAll(async () => {
    // Their tickets fill the windows.
    for (const tenant of ['default', 'acme']) await acceptTask(dashboard.parts, { tenant, agent: 'echo', input: 'first' });
    await dashboard.parts.relay.idle();
    own = await startReady('default', 'mine');
    other = await startReady('acme', 'secret');
  });

  it('is active, and only its tenant sees its lane', async () => {
    const { jobs, count, text } = await active();
    expect(count).toBe(2);
    expect(jobs.map(({ id, data }) => [id, data.lane])).toEqual([
      [`${own}@default`, 'session:mine'],
      [`${other}@acme`, null],
    ]);
    expect(text).not.toContain('secret');
  });

  it('opens under its id while it runs', async () => {
    const answer = (await (await act('GET', `/tasks/${own}@default`)).json()) as { status: string; job: Shown };
    expect(answer).toMatchObject({ status: 'active', job: { id: `${own}@default`, data: { task: own } } });
    expect((await act('GET', `/tasks/${own}@acme`)).status).toBe(404);
    expect((await act('GET', `/webhooks/${own}@default`)).status).toBe(404);
  });

  it('is changed by no button', async () => {
    for (const action of ['clean', 'retry', 'promote']) {
      expect((await act('PUT', `/tasks/${own}@default/${action}`)).status).toBe(409);
    }
    expect((await act('PUT', `/tasks/${other}@acme/clean`)).status).toBe(403);
    expect((await act('PUT', '/tasks/clean/active')).status).toBe(409);
    expect((await act('PUT', '/tasks/empty')).status).toBe(200);
    expect(await statusOf(own, 'default')).toBe('running');
    expect(await statusOf(other, 'acme')).toBe('running');
    expect((await active()).count).toBe(2);
  });

  it('stays open under its id once it has ended, and is active no more', async () => {
    const attempt = { tenant: 'default', id: own, lane: 'session:mine', token: 1 };
    await settleAttempt(dashboard.parts.ledger, attempt, { kind: 'completed', output: 'done', result: null, usage: null });
    expect((await active()).jobs.map(({ id }) => id)).toEqual([`${other}@acme`]);
    const answer = (await (await act('GET', `/tasks/${own}@default`)).json()) as { status: string; job: Shown };
    expect(answer).toMatchObject({ status: 'completed', job: { attempts: 1, finishedOn: expect.any(Number) as number } });
    expect((await act('PUT', `/tasks/${own}@default/retry`)).status).toBe(409);
    expect((await act('PUT', `/tasks/${own}@default/clean`)).status).toBe(204);
    expect(await statusOf(own, 'default')).toBe('completed');
  });
});
