import { describe, expect, it } from 'vitest';
import type { AgentContext, AgentFunction, AgentInput, AgentTask } from '#shared/config/define-config.ts';
import { TaskFailure } from '#shared/errors/task-failure.ts';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import type { Task } from '#shared/tasks/task.ts';
import { waitFor } from '../../support/wait-for.ts';
import { useParts } from '../../support/use-parts.ts';
import { useWorker } from '../../support/use-worker.ts';
import { awaitEnd } from '../../support/agents/await-task.ts';

/** A run of the agent, in the hands of a test. */
interface Run {
  task: AgentTask;
  context: AgentContext;
  finish: (answer: string) => void;
  fail: (error: Error) => void;
}

const runs: Run[] = [];

const held: AgentFunction = (task, context) =>
  new Promise((resolve, reject) => {
    runs.push({ task, context, finish: resolve, fail: reject });
    context.signal.addEventListener('abort', () => reject(context.signal.reason as Error));
  });

const parts = await useParts({
  agents: { echo: { kind: 'echo' }, held: { kind: 'function', run: held, takesInput: true }, inattentive: { kind: 'function', run: held } },
  routing: { queue: { collect: { debounceMs: 20, cap: 3 } } },
  worker: { leaseMs: 1000, orphanCheckIntervalMs: 100, cancelGraceMs: 300 },
});
await useWorker(parts);

const offer = async (session: string, input: string, request: Partial<AcceptRequest> = {}): Promise<string> =>
  (await acceptTask(parts, { tenant: 'default', agent: 'held', source: 'chat', session, input, mode: 'steer', ...request })).id;

const ended = (id: string): Promise<Task> => awaitEnd(parts, id);

/** The run of a task's first attempt, or of a later one. */
const runOf = async (id: string, attempt = 1): Promise<Run> =>
  await waitFor(() => runs.find(({ task }) => task.id === id && task.attempt === attempt), { deadlineMs: 5000, what: `run ${attempt}` });

/** What the run takes once there is something. */
const takes = async ({ context }: Run): Promise<string[]> => {
  const taken = await waitFor(
    async () => {
      const inputs = await context.input();
      return inputs.length > 0 ? inputs : null;
    },
    { deadlineMs: 5000, what: 'a message' },
  );
  return taken.map(({ text }) => text);
};

describe('a running agent that takes input', () => {
  it('gets a message for its run once, which then ends as part of it', async () => {
    const id = await offer('once', 'first');
    const run = await runOf(id);
    expect(await run.context.input()).toEqual([]);
    const message = await offer('once', 'second');
    const answers: (readonly AgentInput[])[] = await waitFor(
      async () => {
        const three = await Promise.all([run.context.input(), run.context.input(), run.context.input()]);
        return three.some((taken) => taken.length > 0) ? three : null;
      },
      { deadlineMs: 5000, what: 'the message' },
    );
    expect(answers.flat()).toEqual([{ id: message, text: 'second', user: null, attachments: [] }]);
    expect(await run.context.input()).toEqual([]);
    run.finish('done');
    expect((await ended(id)).state).toMatchObject({ status: 'completed', inputs: [{ id: message, how: 'steered' }] });
    expect((await ended(message)).state).toMatchObject({ status: 'skipped', outcome: { kind: 'steered', taskId: id } });
  });

  it('leaves to the next turn what it does not take', async () => {
    const id = await offer('next', 'first');
    const run = await runOf(id);
    const message = await offer('next', 'second');
    run.finish('done');
    expect((await runOf(message)).task.input).toBe('second');
    (await runOf(message)).finish('done too');
    expect((await ended(message)).state.outcome).toMatchObject({ kind: 'ran' });
    expect((await ended(id)).state.inputs).toBeUndefined();
  });

  it('has in its next attempt what an earlier one took, and what that one was offered and left', async () => {
    const id = await offer('again', 'first', { execution: { retryDelayMs: 1, maxAttempts: 2 } });
    const run = await runOf(id);
    await offer('again', 'taken');
    expect(await takes(run)).toEqual(['taken']);
    const left = await offer('again', 'left');
    run.fail(new TaskFailure('NETWORK_ERROR', 'no route'));
    const second = await runOf(id, 2);
    expect(second.task.input).toBe('first\n\ntaken');
    expect(await takes(second)).toEqual(['left']);
    second.finish('done');
    expect((await ended(id)).state.inputs).toMatchObject([{ how: 'steered' }, { id: left, how: 'steered' }]);
  });

  it('is notified at the next renewal of its lease when the signal of a message was lost', async () => {
    const id = await offer('silent', 'first');
    const run = await runOf(id);
    // The signal is lost: the listener of the worker is cut off while the message is accepted.
    await parts.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await offer('silent', 'second');
    expect(await takes(run)).toEqual(['second']);
    run.finish('done');
    await ended(id);
  });

  it('gets no more messages once it is to stop', async () => {
    const id = await offer('stopped', 'first');
    const run = await runOf(id);
    await cancelTask(parts.ledger, { tenant: 'default', id, lane: 'session:stopped' }, 'enough');
    await waitFor(() => run.context.signal.aborted, { deadlineMs: 5000, what: 'the abort' });
    await expect(run.context.input()).rejects.toBe(run.context.signal.reason);
    expect((await ended(id)).state.status).toBe('cancelled');
  });

  it('is aborted by a message of mode interrupt, which runs next', async () => {
    const id = await offer('cut', 'first');
    const run = await runOf(id);
    const message = await offer('cut', 'instead', { mode: 'interrupt' });
    (await runOf(message)).finish('done');
    expect(run.context.signal.aborted).toBe(true);
    expect((await ended(id)).state).toMatchObject({ status: 'cancelled', outcome: { kind: 'superseded', taskId: message } });
    expect((await ended(message)).state.status).toBe('completed');
  });
});

describe('a turn of collected messages', () => {
  it('is all that waited, up to its cap, and keeps it in its next attempt', async () => {
    const holder = await offer('pile', 'zero');
    const run = await runOf(holder);
    const messages = [];
    for (const input of ['one', 'two', 'three'])
      messages.push(await offer('pile', input, { mode: 'collect', execution: { retryDelayMs: 1 } }));
    run.finish('done');
    const [first = '', second = '', third = ''] = messages;
    const turn = await runOf(first);
    expect(turn.task.input).toBe('one\n\ntwo\n\nthree');
    expect((await ended(second)).state).toMatchObject({ status: 'skipped', outcome: { kind: 'merged', taskId: first } });
    turn.fail(new TaskFailure('NETWORK_ERROR', 'no route'));
    const again = await runOf(first, 2);
    expect(again.task.input).toBe('one\n\ntwo\n\nthree');
    expect(await again.context.input()).toEqual([]);
    again.finish('done');
    expect((await ended(third)).state.outcome).toMatchObject({ kind: 'merged', taskId: first });
    expect((await ended(first)).state.status).toBe('completed');
  });
});

describe('an agent that reads its session', () => {
  it('has the earlier turns, with the messages that went into them, and not its own', async () => {
    const id = await offer('talk', 'one');
    const run = await runOf(id);
    await offer('talk', 'and more');
    await takes(run);
    run.finish('eins');
    await ended(id);
    const next = await offer('talk', 'two', { agent: 'inattentive' });
    const { context, finish } = await runOf(next);
    expect(await context.history()).toEqual([{ taskId: id, input: 'one\n\nand more', output: 'eins' }]);
    finish('zwei');
    await ended(next);
  });

  it('has none without a session', async () => {
    const { id } = await acceptTask(parts, { tenant: 'default', agent: 'held', input: 'alone' });
    const { context, finish } = await runOf(id);
    expect(await context.history()).toEqual([]);
    finish('done');
    await ended(id);
  });
});
