import { describe, expect, it } from 'vitest';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { explainWait } from '#shared/queue/why/explain-wait.ts';
import { LANE, LANE_HELPS } from '#shared/queue/gates/lane.ts';
import type { WaitReason } from '#shared/queue/why/wait-reason.ts';
import type { Task } from '#shared/tasks/task.ts';
import { timeText } from '#shared/time/clock.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';

const TENANT = 'default';
const DONE = { kind: 'completed', output: '', result: null, usage: null } as const;

const parts = await useEmptyParts({
  agents: { echo: { kind: 'echo' }, shared: { kind: 'echo', lane: 'printer' }, capped: { kind: 'echo', maxRunning: 1 } },
  lanes: { printer: { limit: 1 } },
  routing: { queue: { collect: { debounceMs: 60_000 } } },
});

const submit = async (request: Partial<AcceptRequest> = {}): Promise<string> =>
  (await acceptTask(parts, { tenant: TENANT, agent: 'echo', input: 'x', session: 's', ...request })).id;
const start = async (id: string): Promise<() => Promise<unknown>> => {
  const place = { tenant: TENANT, id, lane: (await readTask(parts.ledger, TENANT, id))?.state.lane ?? null };
  const claim = await claimTask(parts.ledger, place, 'w1');
  const token = claim.kind === 'claimed' ? claim.state.token : 0;
  return async () => await settleAttempt(parts.ledger, { ...place, token }, DONE);
};
const why = async (id: string): Promise<WaitReason | undefined> => {
  const task = (await readTask(parts.ledger, TENANT, id)) as Task;
  return (await explainWait(parts, task)).reasons[0];
};

/** What would help at its lane, and who holds that. */
const laneOf = async (id: string): Promise<{ helps: string | null; holder: unknown }> => {
  const { gates } = await explainWait(parts, (await readTask(parts.ledger, TENANT, id)) as Task);
  const { helps = null, facts = {} } = gates.find(({ gate }) => gate === 'lane') ?? {};
  return { helps, holder: facts['holder'] };
};

describe('why a message waits', () => {
  it('names the task in front of it, which holds the lane or stands in line', async () => {
    const [first, second, third] = [await submit(), await submit(), await submit()];
    expect(await why(second)).toMatchObject({ gate: 'lane', taskId: first, detail: `behind task ${first} in session "s", 1 before it` });
    expect(await why(third)).toMatchObject({ gate: 'lane', taskId: second, detail: `behind task ${second} in session "s", 2 before it` });
  });

  it('names the lane that its agent shares', async () => {
    const shared = { agent: 'shared', session: undefined } as never as Partial<AcceptRequest>;
    const [first, second] = [await submit(shared), await submit(shared)];
    expect((await why(second))?.detail).toBe(`behind task ${first} in lane "printer", 1 before it`);
  });

  it('names its agent, when no more of its tasks may run', async () => {
    const capped = { agent: 'capped', session: undefined } as never as Partial<AcceptRequest>;
    const [first, second] = [await submit(capped), await submit(capped)];
    expect(await why(second)).toMatchObject({
      gate: 'lane',
      taskId: first,
      detail: `behind task ${first} in the tasks of agent "capped", 1 before it`,
    });
  });

  it('names the holder of each kind of lane, and what helps there', async () => {
    const without = { session: undefined } as never as Partial<AcceptRequest>;
    const first = await submit();
    expect(await laneOf(await submit())).toEqual({ helps: LANE.helps, holder: first });
    const capped = await submit({ ...without, agent: 'capped' });
    expect(await laneOf(await submit({ ...without, agent: 'capped' }))).toEqual({ helps: LANE_HELPS.agent, holder: capped });
    const shared = await submit({ ...without, agent: 'shared' });
    expect(await laneOf(await submit({ ...without, agent: 'shared' }))).toEqual({ helps: LANE_HELPS.shared, holder: shared });
  });

  it('names the running task that it was offered to', async () => {
    const first = await submit();
    await start(first);
    const id = await submit({ mode: 'steer' });
    expect(await why(id)).toMatchObject({ gate: 'steer', taskId: first, detail: `offered to task ${first}, not taken yet` });
  });

  it('names the one before it once that task ended without taking it', async () => {
    const end = await start(await submit());
    const [next, last] = [await submit({ mode: 'steer' }), await submit({ mode: 'steer' })];
    await end();
    expect(await why(last)).toMatchObject({ gate: 'lane', taskId: next });
  });

  it('shows until when it collects more', async () => {
    const end = await start(await submit());
    const id = await submit({ mode: 'collect' });
    await end();
    await start(id);
    const reason = await why(id);
    expect(reason).toMatchObject({ gate: 'debounce' });
    expect(reason?.until).toBeGreaterThan(Date.now());
    expect(reason?.detail).toBe(`collects messages until ${timeText(reason?.until ?? 0)}`);
  });
});
