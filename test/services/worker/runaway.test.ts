import { describe, expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { retryTask } from '#shared/queue/tickets/change-waiting-task.ts';
import { newTaskId } from '#shared/tasks/ids.ts';
import { taskRecord } from '#shared/tasks/task-record.ts';
import { useParts } from '../../support/use-parts.ts';
import { useWorker } from '../../support/use-worker.ts';
import { waitFor } from '../../support/wait-for.ts';
import { awaitEnd } from '../../support/agents/await-task.ts';

const TENANT = 'default';
const MAX_DEPTH = 4;
const MAX_DESCENDANTS = 6;

/** Delegates to the agent that its input names, which delegates back, for as long as it may. */
const delegate: AgentFunction = async (task) => {
  const agent = task.agent === 'ping' ? 'pong' : 'ping';
  await acceptTask(parts, { tenant: TENANT, agent, input: 'go on', parentTaskId: task.id, execution: { maxAttempts: 1 } });
};

/** Holds its session until it is opened. */
const openGate = Promise.withResolvers<string>();

const parts = await useParts({
  agents: {
    ping: { kind: 'function', run: delegate },
    pong: { kind: 'function', run: delegate },
    idle: { kind: 'echo' },
    gate: { kind: 'function', run: () => openGate.promise },
  },
  runaways: { maxDepth: MAX_DEPTH, maxDescendants: MAX_DESCENDANTS },
});
await useWorker(parts);

const submit = async (agent: string, more: object = {}): Promise<string> =>
  (await acceptTask(parts, { tenant: TENANT, agent, input: 'x', execution: { maxAttempts: 1 }, ...more })).id;

const record = async (id: string): Promise<Record<string, unknown>> => {
  const task = await readTask(parts.ledger, TENANT, id);
  return task === null ? {} : taskRecord(task);
};

const ended = async (id: string): Promise<Record<string, unknown>> => taskRecord(await awaitEnd(parts, id, TENANT));

/** Reasons of the notifications about a root. */
async function notices(root: string): Promise<string[]> {
  const entries = await parts.redis.xrange(parts.keys.tenant(TENANT).events, '-', '+');
  const own = entries.map(([, fields]) => fields).filter((fields) => fields.includes('task.runaway') && fields.includes(root));
  return own.map((fields) => (JSON.parse(fields[fields.indexOf('facts') + 1] ?? '[]') as { reason: string }[])[0]?.reason ?? '');
}

describe('two agents that delegate to each other', () => {
  it('are cut at the bound, with the chain named, and their tenant is notified once', async () => {
    const root = await submit('ping');
    const refused = await waitFor(
      async () => {
        const [reason] = await notices(root);
        return reason ?? null;
      },
      { deadlineMs: 20_000, what: 'the cut' },
    );
    expect(refused).toBe(
      `Runaway: tasks delegate more than 4 times one after another: ping > pong > ping > pong > ping > pong (5 delegations below task ${root})`,
    );
    const tree = await parts.redis.hgetall(parts.keys.tenant(TENANT).taskTree(root));
    expect(tree).toEqual({ tasks: `${MAX_DEPTH}`, since: expect.any(String), cut: refused });
    await expect(submit('idle', { parentTaskId: root })).rejects.toMatchObject({ code: 'task.runaway', message: refused });
    expect(await notices(root)).toHaveLength(1);
  });
});

describe('a task with many descendants', () => {
  it('is cut: what waits fails without running, and a retry by a person lets the tree go on', async () => {
    const root = await submit('idle');
    await ended(root);
    await submit('gate', { session: 's' });
    const waiting = await submit('idle', { parentTaskId: root, session: 's' });
    const under = await submit('idle', { parentTaskId: waiting });
    expect(await record(under)).toMatchObject({ rootTaskId: root, depth: 2, parentTaskId: waiting });
    for (let more = 2; more < MAX_DESCENDANTS; more += 1) await submit('idle', { parentTaskId: root });
    await expect(submit('idle', { parentTaskId: under })).rejects.toMatchObject({
      code: 'task.runaway',
      message: expect.stringMatching(/one task led to more than 6 others: idle > idle > idle > idle \(3 delegations/),
      details: { rootTaskId: root },
    });
    expect(await notices(root)).toHaveLength(1);
    openGate.resolve('open');
    expect(await ended(waiting)).toMatchObject({
      status: 'permanently_failed',
      error: { code: 'RUNAWAY', retryable: false },
      output: null,
    });
    expect(await retryTask(parts, TENANT, waiting)).toMatchObject({ kind: 'reopened' });
    expect(await ended(waiting)).toMatchObject({ status: 'completed' });
    await submit('idle', { parentTaskId: under });
    expect(await parts.redis.hget(parts.keys.tenant(TENANT).taskTree(root), 'tasks')).toBe('1');
  });

  it('does not count a request that comes again', async () => {
    const root = await submit('idle');
    const again = { parentTaskId: root, idempotencyKey: newTaskId() };
    const first = await submit('idle', again);
    expect(await submit('idle', again)).toBe(first);
    expect(await parts.redis.hget(parts.keys.tenant(TENANT).taskTree(root), 'tasks')).toBe('1');
  });
});
