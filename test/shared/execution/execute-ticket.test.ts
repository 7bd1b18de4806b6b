import { describe, expect, it, vi } from 'vitest';
import { HeldFailure } from '#shared/errors/task-failure.ts';
import { createAgentRunners, runAgent } from '#shared/agents/agent-kinds.ts';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { ModelCalls } from '#shared/models/model-calls.ts';
import { openScheduleParts } from '#shared/schedules/schedule-parts.ts';
import { systemClock } from '#shared/time/clock.ts';
import { executeTicket, type ExecuteTicketParts, resumeAttempt } from '#shared/execution/execute-ticket.ts';
import { adoptAttempt } from '#shared/ledger/claim/adopt-attempt.ts';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { appendOutput, readAttemptOutput } from '#shared/ledger/read/run-log.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { LeaseKeeper } from '#shared/execution/leases/lease-keeper.ts';
import { useParts } from '../../support/use-parts.ts';
import { storedState } from '../ledger/support/stored-states.ts';

const plans: AgentFunction = () => Promise.resolve('/schedule list');
const answers: AgentFunction = () => Promise.resolve('done');

const parts = await useParts({ agents: { planner: { kind: 'function', run: plans }, worker: { kind: 'function', run: answers } } });

function createExecutor(): ExecuteTicketParts {
  const { ledger, log, catalog } = parts;
  const runners = createAgentRunners({
    fleetId: () => Promise.resolve('f'),
    directory: '.',
    openaiBaseUrl: undefined,
    openaiApiKey: undefined,
    readSecret: () => undefined,
    allowNetworks: [],
    maxResponseBytes: 1000,
  });
  return {
    ledger,
    keeper: new LeaseKeeper({ ledger, clock: systemClock, log }),
    clock: systemClock,
    log,
    worker: 'tested',
    redact: (text) => text,
    catalog,
    spending: parts,
    waits: {},
    functionLoop: () => expect.unreachable('these agents run no model with tools'),
    fleetModels: () => expect.unreachable('these agents ask for no model'),
    modelCalls: new ModelCalls({ ...parts, settings: parts.config.settings }),
    runAgent: (run) => runAgent(runners, run),
    schedules: openScheduleParts(parts),
    fileParts: { ...parts, fetchFile: () => expect.unreachable('these tasks bring no files') },
    graceMs: 1000,
    onWaiting: () => undefined,
    isolation: () => 'full',
    runIsolated: () => Promise.reject(new Error('nothing is lost here')),
    isDraining: () => false,
  };
}

describe('executing a ticket', () => {
  it('releases an attempt that a mistake of ours keeps from its end, so that its lease runs out', async () => {
    const executor = createExecutor();
    const { keeper, schedules } = executor;
    Object.defineProperty(executor, 'schedules', {
      get: () => {
        if (keeper.running.length > 0) throw new Error('a mistake of ours');
        return schedules;
      },
    });
    const { id } = await acceptTask(parts, { tenant: 'default', agent: 'planner', input: 'plan' });
    await expect(executeTicket(executor, { tenant: 'default', task: id })).rejects.toThrow('a mistake of ours');
    expect(keeper.running).toEqual([]);
  });

  it('waits for a Redis that is away when it reads the agent of a tenant, and spends no attempt', async () => {
    let reads = 0;
    const find: ExecuteTicketParts['catalog']['find'] = () => {
      reads += 1;
      return reads === 1 ? Promise.reject(new Error('Connection is closed.')) : Promise.resolve(parts.catalog.configured('worker'));
    };
    const catalog: ExecuteTicketParts['catalog'] = Object.assign(Object.create(parts.catalog), { configured: () => null, find });
    const { id } = await acceptTask(parts, { tenant: 'default', agent: 'worker', input: 'work' });
    expect(await executeTicket({ ...createExecutor(), catalog }, { tenant: 'default', task: id })).toMatchObject({
      kind: 'done',
      note: 'completed',
    });
    expect(reads).toBe(2);
  });
});

/** Executes the ticket of a task under which a step is taken while its agent runs, which then fails. */
async function executed(
  whileRunning: (id: string, executor: ExecuteTicketParts) => Promise<unknown>,
  fails = new Error('no'),
): Promise<unknown> {
  const { id } = await acceptTask(parts, { tenant: 'default', agent: 'worker', input: 'work', execution: { retryDelayMs: 5000 } });
  const executor = createExecutor();
  executor.runAgent = async () => {
    await whileRunning(id, executor);
    throw fails;
  };
  return await executeTicket(executor, { tenant: 'default', task: id });
}

/** A critical task is to have its place. */
async function promise(id: string): Promise<void> {
  const { state } = (await readTask(parts.ledger, 'default', id))!;
  const promised = { ...state, preempt: { token: 1, by: 'critical', at: Date.now() } };
  await parts.redis.hset(parts.keys.tenant('default').states, id, storedState(promised));
}

describe('the ticket of a task', () => {
  it('is used up when its attempt is drained', async () => {
    expect(await executed(async (_id, { keeper }) => await Promise.resolve(keeper.drain()))).toEqual({
      kind: 'done',
      note: 'the worker is shutting down; gets another ticket now',
    });
  });

  it('is used up when its attempt is drained and its place was promised to another', async () => {
    const result = await executed(async (id, { keeper }) => {
      await promise(id);
      keeper.drain();
    });
    expect(result).toEqual({ kind: 'done', note: 'the worker is shutting down; gets another ticket when there is room' });
  });

  it('is used up when it waits for its retry, is held, or is cancelled meanwhile', async () => {
    const hold = { gate: 'budget', what: 'month' } as const;
    expect(await executed(() => Promise.resolve())).toMatchObject({
      note: expect.stringMatching(/^AGENT_ERROR: no; gets another ticket in \d+ ms$/),
    });
    expect(await executed(() => Promise.resolve(), new HeldFailure('BUDGET_EXCEEDED', 'used up', { hold }))).toEqual({
      kind: 'done',
      note: 'BUDGET_EXCEEDED: used up; gets another ticket when it is held no more',
    });
    expect(await executed((id) => cancelTask(parts.ledger, { tenant: 'default', id, lane: null }, 'enough'))).toEqual({
      kind: 'done',
      note: 'cancelled',
    });
  });
});

describe('a claim that is answered after its lease', () => {
  it('starts no agent: another worker may have the task', async () => {
    let [started, ahead] = [0, 0];
    const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + ahead };
    const executor = { ...createExecutor(), clock, keeper: new LeaseKeeper({ ledger: parts.ledger, clock, log: parts.log }) };
    executor.runAgent = () => {
      started += 1;
      return Promise.resolve({});
    };
    const { id } = await acceptTask(parts, { tenant: 'default', agent: 'worker', input: 'work' });
    const executing = executeTicket(executor, { tenant: 'default', task: id });
    // The process is frozen between its call and the answer.
    ahead = parts.config.settings.worker.leaseMs + 1;
    await executing;
    expect(started).toBe(0);
  });
});

describe('an attempt that its daemon takes to another hub', () => {
  it('goes on with its output after the last entry, and ends under its token', async () => {
    const { ledger } = parts;
    const { id } = await acceptTask(parts, { tenant: 'default', agent: 'worker', input: 'work' });
    const claim = await claimTask(ledger, { tenant: 'default', id, lane: null }, 'first-hub', { daemon: 'dmn_1' });
    if (claim.kind !== 'claimed') throw new Error(claim.kind);
    const place = { tenant: 'default', id };
    const ref = { ...place, lane: null, token: claim.state.token };
    await appendOutput(ledger, ref, { attempt: 1, seq: 1, text: 'one ' });
    await appendOutput(ledger, ref, { attempt: 1, seq: 2, text: 'two ' });

    const adopted = await adoptAttempt(ledger, ref, { worker: 'tested', daemon: 'dmn_1' });
    if (adopted.kind === 'gone') throw new Error('it runs');
    const executor: ExecuteTicketParts = {
      ...createExecutor(),
      runAgent: (_run, { output }) => {
        expect(output.seq).toBe(2);
        output.writeEntry(2, 'two ');
        output.writeEntry(3, 'three');
        return Promise.resolve({});
      },
    };
    expect(await resumeAttempt(executor, place, adopted)).toMatchObject({ kind: 'done', note: 'completed' });
    await expect.poll(async () => (await readTask(ledger, 'default', id))?.state.status).toBe('completed');
    expect(await readTask(ledger, 'default', id)).toMatchObject({
      state: { token: 1, spent: 1, worker: 'tested' },
      attempts: [{ worker: 'tested', daemon: 'dmn_1', status: 'success' }],
      output: 'one two three',
    });
    expect(await readAttemptOutput(ledger, { ...place, startedAt: 0 })).toEqual({ text: 'one two three', seq: 3 });
  });

  it('is left to its lease when its output cannot be read', async () => {
    const { ledger } = parts;
    const { id } = await acceptTask(parts, { tenant: 'default', agent: 'worker', input: 'work' });
    const claim = await claimTask(ledger, { tenant: 'default', id, lane: null }, 'first-hub', { daemon: 'dmn_1' });
    if (claim.kind !== 'claimed') throw new Error(claim.kind);
    const place = { tenant: 'default', id };
    const adopted = await adoptAttempt(ledger, { ...place, token: claim.state.token }, { worker: 'tested', daemon: 'dmn_1' });
    if (adopted.kind === 'gone') throw new Error('it runs');
    vi.spyOn(ledger.redis, 'xrange').mockRejectedValueOnce(new Error('broken'));
    const executor = createExecutor();
    await expect(resumeAttempt(executor, place, adopted)).rejects.toThrow('broken');
    expect(executor.keeper.running).toEqual([]);
  });

  it('is left to that hub by the one that held it before', async () => {
    const { id } = await acceptTask(parts, { tenant: 'default', agent: 'worker', input: 'work' });
    const executor: ExecuteTicketParts = {
      ...createExecutor(),
      daemon: 'dmn_1',
      runAgent: async (run, { attempt }) => {
        await adoptAttempt(parts.ledger, attempt.ref, { worker: 'next-hub', daemon: 'dmn_1' });
        attempt.stop({ kind: 'detached', isAdopted: true });
        return await run.untilStopped(new Promise(() => undefined));
      },
    };
    const result = await executeTicket(executor, { tenant: 'default', task: id });
    expect(result).toEqual({ kind: 'done', note: 'goes on at another hub' });
    expect(executor.keeper.running).toEqual([]);
    expect(await readTask(parts.ledger, 'default', id)).toMatchObject({ state: { status: 'scheduled', worker: 'next-hub' } });
  });
});
