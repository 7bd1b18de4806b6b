import { describe, expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { TaskFailure } from '#shared/errors/task-failure.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { forgetFailures } from '#shared/ledger/settle/agent-failures.ts';
import { releaseIfResumed } from '#shared/ledger/settle/agent-starts.ts';
import { type Accepted, acceptTask } from '#shared/queue/accept/accept-task.ts';
import { acceptTasks } from '#shared/queue/accept/accept-tasks.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { retryTask } from '#shared/queue/tickets/change-waiting-task.ts';
import { explainWait } from '#shared/queue/why/explain-wait.ts';
import type { TaskState } from '#shared/tasks/task-state.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { awaitEnd, awaitEndOrHold } from '../../../support/agents/await-task.ts';

const TENANT = 'default';
const MAX_FAILURES = 3;

/** Fails with the code that its input names, as long as it names one. */
let isRepaired = false;
/** Ends the tasks with the input `late`. */
let late = Promise.withResolvers<string>();
const moody: AgentFunction = async ({ input }) => {
  if (input === 'late') return await late.promise;
  if (input === 'well' || isRepaired) return 'done';
  throw new TaskFailure(input, 'out of order');
};

const RULE = { warn: 2, hold: 3, windowMs: 3_600_000, maxHeld: 4 };

/** Inputs in the order in which they ran. */
const ran: string[] = [];
const note: AgentFunction = ({ input }) => {
  ran.push(input);
  return Promise.resolve('done');
};

const parts = await useEmptyParts({
  agents: {
    moody: { kind: 'function', run: moody },
    other: { kind: 'function', run: moody },
    note: { kind: 'function', run: note },
    free: { kind: 'function', run: note, sameInput: false },
    chatty: { kind: 'function', run: note, sameInput: { sources: ['chat'], hold: 1 } },
  },
  runaways: { maxFailures: MAX_FAILURES, sameInput: RULE },
});
await useWorker(parts);

const submit = async (input: string, agent = 'moody'): Promise<string> =>
  (await acceptTask(parts, { tenant: TENANT, agent, input, execution: { maxAttempts: 1 } })).id;

const settled = async (id: string): Promise<TaskState> => (await awaitEndOrHold(parts, id, TENANT)).state;

const run = async (input: string, agent?: string): Promise<TaskState> => await settled(await submit(input, agent));

/** Reads at once what others learn within a second. */
const submitAndForget = async (input: string): Promise<string> => {
  parts.ledger.working.delete(`${TENANT}/moody`);
  return await submit(input);
};

const notices = async (): Promise<unknown[]> => {
  const entries = await parts.redis.xrange(parts.keys.tenant(TENANT).events, '-', '+');
  const held = entries.map(([, fields]) => fields).filter((fields) => fields.includes('agent.held'));
  return held.map((fields) => JSON.parse(fields[fields.indexOf('about') + 1] ?? '') as unknown);
};

describe('an agent that fails again and again', () => {
  it('has its tasks held after so many failures in a row, with one notification, until a person retries one', async () => {
    isRepaired = false;
    const other = await submit('BROKEN', 'other');
    await settled(other);
    let last = '';
    for (let failures = 0; failures < MAX_FAILURES; failures += 1) {
      last = await submit('BROKEN');
      expect(await settled(last)).toMatchObject({ status: 'permanently_failed', error: { code: 'BROKEN' } });
    }
    const held = [await submitAndForget('BROKEN'), await submitAndForget('well')];
    for (const id of held) {
      expect(await settled(id)).toMatchObject({ status: 'queued', gate: 'failures', spent: 0, error: { code: 'RUNAWAY' } });
    }
    expect(await notices()).toEqual([{ agent: 'moody', failures: MAX_FAILURES, code: 'BROKEN', taskId: last }]);
    const waiting = await readTask(parts.ledger, TENANT, held[0] ?? '');
    if (!waiting) throw new Error('The held task is gone');
    const { gates } = await explainWait(parts, waiting);
    expect(gates[0]).toMatchObject({
      gate: 'failures',
      detail: expect.stringContaining(`3 tasks of the agent moody failed in a row, the last one (${last}) with BROKEN`),
      facts: { agent: 'moody', failures: MAX_FAILURES, held: 2 },
    });
    expect(await run('well', 'other')).toMatchObject({ status: 'completed' });
    isRepaired = true;
    expect(await retryTask(parts, TENANT, last)).toMatchObject({ kind: 'reopened' });
    for (const id of [last, ...held]) {
      const ended = await waitFor(
        async () => {
          const state = (await readTask(parts.ledger, TENANT, id))?.state;
          return state?.status === 'completed' ? state : null;
        },
        { deadlineMs: 10_000, what: `${id} to complete` },
      );
      expect(ended.outcome).toEqual({ kind: 'ran' });
    }
    expect(await parts.redis.hget(parts.keys.tenant(TENANT).failing, 'moody')).toBeNull();
  });

  it('counts from 0 after a success, and no failures that are not its own', async () => {
    isRepaired = false;
    for (const input of ['BROKEN', 'BROKEN', 'well', 'BROKEN', 'INVALID_INPUT', 'BUDGET_EXCEEDED', 'BROKEN']) await run(input);
    const stored = JSON.parse((await parts.redis.hget(parts.keys.tenant(TENANT).failing, 'moody')) ?? '{}') as object;
    expect(stored).toMatchObject({ failures: 2, code: 'BROKEN' });
    expect(stored).not.toHaveProperty('heldAt');
    expect(await notices()).toEqual([]);
  });

  it('stays held when a task that ran before succeeds', async () => {
    isRepaired = false;
    late = Promise.withResolvers();
    const running = await submit('late');
    for (let failures = 0; failures < MAX_FAILURES; failures += 1) await run('BROKEN');
    late.resolve('done');
    expect(await settled(running)).toMatchObject({ status: 'completed' });
    expect(await settled(await submitAndForget('well'))).toMatchObject({ gate: 'failures' });
  });

  it('goes on also with a task that was held while a person resumed it', async () => {
    isRepaired = false;
    for (let failures = 0; failures < MAX_FAILURES; failures += 1) await run('BROKEN');
    const held = await submitAndForget('well');
    const { hold } = await settled(held);
    if (!hold) throw new Error('The task is not held');
    await releaseIfResumed(parts.ledger, TENANT, hold);
    expect(await settled(held)).toMatchObject({ gate: 'failures' });
    expect(await forgetFailures(parts.ledger, { tenant: TENANT, agent: 'moody' })).toBe(true);
    expect(await settled(held)).toMatchObject({ gate: 'failures' });
    await releaseIfResumed(parts.ledger, TENANT, hold);
    await waitFor(async () => (await readTask(parts.ledger, TENANT, held))?.state.status === 'completed', {
      deadlineMs: 10_000,
      what: 'the task to complete',
    });
  });

  it('goes on when a held task is retried', async () => {
    isRepaired = false;
    for (let failures = 0; failures < MAX_FAILURES; failures += 1) await run('BROKEN');
    const held = [await submitAndForget('well'), await submitAndForget('well')];
    for (const id of held) expect(await settled(id)).toMatchObject({ gate: 'failures' });
    await retryTask(parts, TENANT, held[1] ?? '');
    await waitFor(
      async () =>
        (await Promise.all(held.map((id) => readTask(parts.ledger, TENANT, id)))).every((task) => task?.state.status === 'completed'),
      { deadlineMs: 10_000, what: 'both to complete' },
    );
  });
});

const hooked = (input: string, more: Partial<AcceptRequest> = {}): AcceptRequest => ({
  tenant: TENANT,
  agent: 'note',
  input,
  source: 'webhook',
  ...more,
});
const submitInput = async (input: string, more?: Partial<AcceptRequest>): Promise<Accepted> => await acceptTask(parts, hooked(input, more));

const stateOf = async (id: string): Promise<TaskState> => {
  const task = await readTask(parts.ledger, TENANT, id);
  if (!task) throw new Error(`${id} is gone`);
  return task.state;
};

const repetitions = async (): Promise<unknown[]> => {
  const entries = await parts.redis.xrange(parts.keys.tenant(TENANT).events, '-', '+');
  const own = entries.map(([, fields]) => fields).filter((fields) => fields.includes('task.repeated'));
  return own.flatMap((fields) => JSON.parse(fields[fields.indexOf('facts') + 1] ?? '[]') as unknown[]);
};

/** Submits equal inputs until the next one would be held. */
async function submitToTheLine(input: string, more?: Partial<AcceptRequest>): Promise<string[]> {
  const ids: string[] = [];
  for (let count = 0; count < RULE.hold; count += 1) ids.push((await submitInput(input, more)).id);
  return ids;
}

const expectHeld = async (id: string): Promise<void> => {
  expect(await stateOf(id)).toMatchObject({ status: 'pending', gate: 'repeats', token: 0 });
};

describe('the same input many times in a row', () => {
  it('is warned of once, then held, until a person retries one of its tasks', async () => {
    const first = await submitToTheLine('loop');
    for (const id of first) await awaitEnd(parts, id, TENANT);
    const held = [await submitInput('loop'), await submitInput('loop')];
    expect(held).toMatchObject([
      { status: 'pending', position: 0, estimatedStartMs: null },
      { status: 'pending', position: 1 },
    ]);
    expect(await repetitions()).toEqual([
      { count: 2, held: false, reason: 'runaway: the same input came 2 times in a row to the agent note by webhook' },
      { count: 4, held: true, reason: 'runaway: the same input came 4 times in a row to the agent note by webhook' },
    ]);
    const task = await readTask(parts.ledger, TENANT, held[0]?.id ?? '');
    if (!task) throw new Error('The held task is gone');
    const { gates, reasons } = await explainWait(parts, task);
    expect(gates[0]).toMatchObject({
      gate: 'repeats',
      state: 'closed',
      detail: expect.stringMatching(
        /came 5 times in a row to the agent note by webhook; those after the first 3 start when a person retries/,
      ),
      helps: expect.stringContaining('retries one of them'),
      facts: { agent: 'note', source: 'webhook', inRow: 5, held: 2, ahead: 0 },
    });
    expect(reasons).toHaveLength(1);
    ran.length = 0;
    await awaitEnd(parts, (await submitInput('another')).id, TENANT);
    expect(ran).toEqual(['another']);
    await expectHeld((await submitInput('loop')).id);
    expect(await retryTask(parts, TENANT, held[1]?.id ?? '')).toMatchObject({ kind: 'reopened' });
    for (const { id } of held) expect((await awaitEnd(parts, id, TENANT)).state).toMatchObject({ status: 'completed', spent: 1 });
    expect((await submitInput('loop')).status).toBe('queued');
  });

  it('counts what the agent reads: other files, another context or another input begin again', async () => {
    for (const delivery of ['1', '2', '3']) await submitInput('same', { context: { event: 'push', delivery } });
    await expectHeld((await submitInput('same', { context: { delivery: '4', event: 'push' } })).id);
    expect((await submitInput('same', { context: { event: 'tag', delivery: '5' } })).status).toBe('queued');
    await submitToTheLine('own');
    await submitInput('between');
    expect((await submitInput('own')).status).toBe('queued');
  });

  it('is counted by source and agent, and not where the configuration or the agent says so', async () => {
    await submitToTheLine('here');
    expect((await submitInput('here', { source: 'proactive' })).status).toBe('queued');
    for (const source of ['api', 'chat', 'schedule'] as const) {
      await submitToTheLine('there', { source });
      expect((await submitInput('there', { source })).status).toBe('queued');
    }
    await submitToTheLine('free', { agent: 'free' });
    expect((await submitInput('free', { agent: 'free' })).status).toBe('queued');
    await submitInput('twice', { agent: 'chatty', source: 'chat' });
    await expectHeld((await submitInput('twice', { agent: 'chatty', source: 'chat', mode: 'queue', session: 's' })).id);
    await expectHeld((await submitInput('here')).id);
  });

  it('is refused once it holds as many tasks as it may, and a request that comes again is no other input', async () => {
    await submitToTheLine('storm');
    for (let count = 0; count < RULE.maxHeld; count += 1)
      await expectHeld((await submitInput('storm', { idempotencyKey: `k${count}` })).id);
    await expect(submitInput('storm')).rejects.toMatchObject({
      code: 'task.runaway',
      message: expect.stringContaining('8 times in a row'),
    });
    expect(await submitInput('storm', { idempotencyKey: 'k1' })).toMatchObject({ status: 'pending', isDuplicate: true });
  });

  it('is held in one call with others as in calls of its own', async () => {
    const inputs = ['x', 'x', 'y', 'x', 'x', 'x', 'x', 'z', 'x'];
    const accepted = (await acceptTasks(
      parts,
      inputs.map((input) => hooked(input)),
    )) as Accepted[];
    expect(accepted.map(({ status }) => (status === 'pending' ? 'held' : 'runs'))).toEqual([
      'runs',
      'runs',
      'runs',
      'runs',
      'runs',
      'runs',
      'held',
      'runs',
      'held',
    ]);
    expect(await repetitions()).toHaveLength(2);
  });

  it('goes on to its time when it is released before', async () => {
    await submitToTheLine('later');
    const scheduledFor = new Date(Date.now() + 3_600_000).toISOString();
    const { id } = await submitInput('later', { scheduledFor });
    await expectHeld(id);
    await retryTask(parts, TENANT, id);
    expect(await stateOf(id)).toMatchObject({ status: 'pending', gate: 'time', notBefore: Date.parse(scheduledFor) });
    expect(await stateOf(id)).not.toHaveProperty('hold');
  });

  it('waits behind what is before it in its session when it is released', async () => {
    await submitToTheLine('talk', { session: 'room' });
    const held = await submitInput('talk', { session: 'room' });
    await expectHeld(held.id);
    await awaitEnd(parts, (await submitInput('else', { session: 'room' })).id, TENANT);
    await expectHeld(held.id);
    await retryTask(parts, TENANT, held.id);
    expect((await awaitEnd(parts, held.id, TENANT)).state).toMatchObject({ status: 'completed' });
  });
});
