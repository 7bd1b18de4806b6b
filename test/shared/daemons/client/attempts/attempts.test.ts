import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AgentUsage } from '#shared/config/define-config.ts';
import { TaskFailure } from '#shared/errors/index.ts';
import { Attempts, type AttemptsOptions } from '#shared/daemons/client/attempts/attempts.ts';
import type { DaemonEvent } from '#shared/daemons/client/daemon-event.ts';
import type { DaemonHandler } from '#shared/daemons/client/daemon-task.ts';
import { KEEP_IN_MEMORY } from '#shared/daemons/client/finished-results.ts';
import { type HubMessage, parseDaemonMessage } from '#shared/daemons/protocol.ts';

const EXECUTE: HubMessage<'task.execute'> = {
  type: 'task.execute',
  taskId: 'task',
  token: 1,
  attempt: 1,
  agent: 'coder',
  input: 'hello',
  timeoutMs: 60_000,
  context: {},
  takesInput: false,
  history: [],
  attachments: [],
};

const WELCOME: HubMessage<'hub.welcome'> = { type: 'hub.welcome', daemonId: 'dmn_1', heartbeatMs: 10_000, keep: [], drop: [], resume: [] };

/** Runs one attempt, whose end is saved as `save` says. */
function runOne(
  save: AttemptsOptions['results']['save'] = () => Promise.resolve(),
  handler: DaemonHandler = () => Promise.resolve('done'),
  maxMessageBytes = 1000,
): { attempts: Attempts; events: DaemonEvent[]; changed: Promise<void> } {
  const changed = Promise.withResolvers<void>();
  const events: DaemonEvent[] = [];
  const attempts = new Attempts({
    handler,
    results: { ...KEEP_IN_MEMORY, save },
    maxOutput: 1000,
    maxMessageBytes,
    onEvent: (event) => events.push(event),
    onChange: () => {
      if (events.some(({ type }) => type === 'ended')) changed.resolve();
    },
  });
  void attempts.handle(EXECUTE, () => undefined);
  return { attempts, events, changed: changed.promise };
}

/** The only message of an attempt with this handler, which a hub has to be able to read. */
async function endOf(handler: DaemonHandler): Promise<unknown> {
  const { attempts, changed } = runOne(undefined, handler);
  await changed;
  const json = JSON.stringify(nextOf(attempts));
  expect(parseDaemonMessage(json)).toMatchObject({ ok: true });
  expect(json.length).toBeLessThan(1000);
  return JSON.parse(json);
}

/** Reports each of these, and is done. */
const reporting =
  (uses: readonly Partial<AgentUsage>[]): DaemonHandler =>
  (_task, { reportUsage }) =>
    Promise.resolve(uses.forEach((each) => reportUsage({ inputTokens: 0, outputTokens: 0, ...each })));

const nextOf = (attempts: Attempts): unknown => [...attempts.reports()][0]?.next();

describe('the end of an attempt', () => {
  it('is for the hub only once it is on disk', async () => {
    const saving = Promise.withResolvers<void>();
    const saved = Promise.withResolvers<void>();
    const { attempts, changed } = runOne(() => {
      saving.resolve();
      return saved.promise;
    });
    await saving.promise;
    expect(nextOf(attempts)).toBeNull();
    expect(attempts.names()).toMatchObject({ running: [{ taskId: 'task', token: 1 }], finished: [] });
    saved.resolve();
    await changed;
    expect(nextOf(attempts)).toMatchObject({ type: 'task.completed', output: 'done' });
    expect(attempts.names()).toMatchObject({ running: [], finished: [{ taskId: 'task', token: 1 }] });
  });

  it('is for the hub too when the disk is full, and the person learns that', async () => {
    const { attempts, events, changed } = runOne(() => Promise.reject(new Error('no space left on device')));
    await changed;
    expect(nextOf(attempts)).toMatchObject({ type: 'task.completed' });
    expect(events).toContainEqual({ type: 'problem', message: 'A result could not be kept on disk: no space left on device' });
  });
});

describe('what a handler says', () => {
  const name = { taskId: EXECUTE.taskId, token: EXECUTE.token };

  it('that it used is rounded, also when it is reported meanwhile', async () => {
    const used = { inputTokens: 10.4, outputTokens: 1, costMicroUsd: 1234 * 0.15 };
    expect(await endOf(() => Promise.resolve({ output: 'done', usage: used }))).toMatchObject({
      type: 'task.completed',
      usage: { inputTokens: 10, outputTokens: 1, costMicroUsd: 185 },
    });
    const reports: DaemonHandler = (_task, { reportUsage }) => Promise.resolve([used, used].forEach((each) => reportUsage(each)));
    expect(await endOf(reports)).toMatchObject({ usage: { inputTokens: 20, outputTokens: 2, costMicroUsd: 370 } });
  });

  const large = { model: 'large', inputTokens: 10, outputTokens: 1, cachedInputTokens: 8 };
  const small = { model: 'small', inputTokens: 2, outputTokens: 1, reasoningTokens: 1, costMicroUsd: 3 };

  it('that it used of one model is said as older hubs read it', async () => {
    expect(await endOf(reporting([large, large]))).toMatchObject({
      usage: { model: 'large', inputTokens: 20, outputTokens: 2, cachedInputTokens: 16 },
    });
    expect(await endOf(() => Promise.resolve({ usage: large }))).toMatchObject({ usage: large });
  });

  it('that it used of several models is said for each, with the sum beside it, also of a failure', async () => {
    const sum = { inputTokens: 14, outputTokens: 3, cachedInputTokens: 8, reasoningTokens: 2 };
    const usage = { ...sum, byModel: [{ ...small, inputTokens: 4, outputTokens: 2, reasoningTokens: 2, costMicroUsd: 6 }, large] };
    const reports = reporting([small, large, small]);
    expect(await endOf(reports)).toEqual({ type: 'task.completed', ...name, usage });
    const fails: DaemonHandler = async (task, context) => {
      await reports(task, context);
      throw new TaskFailure('NO_DISK', 'full');
    };
    expect(await endOf(fails)).toMatchObject({ type: 'task.failed', usage });
  });

  it('that it used of one model with and without a cost of its own stays apart, so that the hub prices the rest', async () => {
    const byModel = [
      { model: 'large', inputTokens: 10, outputTokens: 1, cachedInputTokens: 8 },
      { model: 'large', inputTokens: 10, outputTokens: 1, cachedInputTokens: 8, costMicroUsd: 7 },
    ];
    expect(await endOf(reporting(byModel))).toMatchObject({
      usage: { model: 'large', inputTokens: 20, outputTokens: 2, cachedInputTokens: 16, byModel },
    });
  });

  it('that it used of more models than a message names is of no model, and nothing of it is lost', async () => {
    const uses = Array.from({ length: 60 }, (_, at) => [
      { model: `m${at}`, inputTokens: 1 },
      { model: `m${at}`, inputTokens: 1, costMicroUsd: 1 },
    ]).flat();
    const { attempts, changed } = runOne(undefined, reporting(uses), 1_000_000);
    await changed;
    const json = JSON.stringify(nextOf(attempts));
    expect(parseDaemonMessage(json)).toMatchObject({ ok: true });
    const { usage } = JSON.parse(json) as { usage: { inputTokens: number; byModel: { model?: string; inputTokens: number }[] } };
    expect([usage.inputTokens, usage.byModel.length]).toEqual([120, 50]);
    expect(usage.byModel.reduce((sum, { inputTokens }) => sum + inputTokens, 0)).toBe(120);
    expect(usage.byModel.filter(({ model }) => model === undefined)).toHaveLength(2);
  });

  const many = Array.from({ length: 20 }, (_, at) => ({ model: `${'m'.repeat(50)}${at}`, inputTokens: 1, outputTokens: 1 }));

  it('that it used is a sum where the hub takes no more, with the same result', async () => {
    expect(await endOf(reporting(many))).toEqual({ type: 'task.completed', ...name, usage: { inputTokens: 20, outputTokens: 20 } });
    // A cost that is known stays, as the part of an estimate.
    const priced = [{ model: 'priced', inputTokens: 0, outputTokens: 0, costMicroUsd: 5 }, ...many];
    const usage = { inputTokens: 20, outputTokens: 20, costMicroUsd: 5, isEstimated: true };
    expect(await endOf(reporting(priced))).toMatchObject({ usage });
  });

  it('that it used goes by model with the failure for a result that is too large, where the hub takes that', async () => {
    const prints: DaemonHandler = async (task, context) => {
      await reporting([large, small])(task, context);
      return 'x'.repeat(2000);
    };
    expect(await endOf(prints)).toMatchObject({ error: { code: 'OUTPUT_TOO_LARGE' }, usage: { byModel: [large, small] } });
  });

  it.each([
    ['a usage that is no number', { usage: { inputTokens: Number.NaN, outputTokens: 1 } }],
    ['an empty model', { usage: { inputTokens: 1, outputTokens: 1, model: '' } }],
    ['a model whose name is no line', { usage: { inputTokens: 1, outputTokens: 1, model: 'a\nb' } }],
    ['cached tokens that are none', { usage: { inputTokens: 1, outputTokens: 1, cachedInputTokens: '1' } }],
    ['an output that is no text', { output: 5 }],
    ['a result that is no JSON', { result: 5n }],
  ])('with %s fails the attempt', async (_what, answer) => {
    expect(await endOf(() => Promise.resolve(answer as never))).toMatchObject({
      ...name,
      type: 'task.failed',
      error: { code: 'AGENT_ERROR' },
    });
  });

  it.each([
    ['are too large', 'x'.repeat(2000)],
    ['cannot be sent', 5n],
  ])('about a failure has no details when they %s', async (why, line) => {
    const { error } = (await endOf(() => Promise.reject(new TaskFailure('NO_DISK', 'full', { details: { line } })))) as { error: object };
    expect(error).toEqual({
      code: 'NO_DISK',
      message: expect.stringMatching(new RegExp(`^full \\(its details ${why}`)) as string,
      retryable: true,
    });
  });

  it('that is longer than a message may be is cut', async () => {
    expect(await endOf(() => Promise.reject(new Error('x'.repeat(5000))))).toMatchObject({ type: 'task.failed' });
    const { attempts } = runOne(undefined, (_task, { progress }) => {
      progress('x'.repeat(10_000));
      return new Promise(() => undefined);
    });
    expect(JSON.stringify(nextOf(attempts)).length).toBeLessThan(2100);
  });

  it('is measured by what the hub takes, also what ended before it said so', async () => {
    const { attempts, changed } = runOne(undefined, () => Promise.resolve('x'.repeat(600)));
    await changed;
    await attempts.welcome({ ...WELCOME, maxMessageBytes: 500 });
    expect(nextOf(attempts)).toMatchObject({ type: 'task.failed', error: { code: 'OUTPUT_TOO_LARGE' } });
  });
});

describe('what an attempt has used so far', () => {
  const usage = { inputTokens: 1, outputTokens: 2 };
  const uses: DaemonHandler = (_task, { reportUsage }) => {
    for (let count = 0; count < 3; count += 1) reportUsage(usage);
    return new Promise(() => undefined);
  };
  const total = { type: 'task.usage', taskId: EXECUTE.taskId, token: EXECUTE.token, usage: { inputTokens: 3, outputTokens: 6 } };
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  it('is for the hub as a total, once a second, and again for the next hub', async () => {
    const { attempts } = runOne(undefined, uses);
    expect(nextOf(attempts)).toBeNull();
    await vi.advanceTimersByTimeAsync(1000);
    expect(nextOf(attempts)).toEqual(total);
    expect(nextOf(attempts)).toBeNull();
    await attempts.welcome(WELCOME);
    expect(nextOf(attempts)).toEqual(total);
  });

  it('is by model, and a sum for a hub that takes no longer message', async () => {
    const one = { ...usage, model: 'a'.repeat(100), cachedInputTokens: 1 };
    const two = { ...one, model: 'b'.repeat(100) };
    const { attempts } = runOne(undefined, (_task, { reportUsage }) => {
      for (const each of [one, two, two]) reportUsage(each);
      return new Promise(() => undefined);
    });
    await vi.advanceTimersByTimeAsync(1000);
    const sum = { inputTokens: 3, outputTokens: 6, cachedInputTokens: 3 };
    const byModel = [one, { ...two, inputTokens: 2, outputTokens: 4, cachedInputTokens: 2 }];
    expect(nextOf(attempts)).toEqual({ ...total, usage: { ...sum, byModel } });
    await attempts.welcome({ ...WELCOME, maxMessageBytes: 300 });
    expect(nextOf(attempts)).toEqual({ ...total, usage: sum });
  });

  it('is not for a hub that does not know the message, which is no problem', async () => {
    const { attempts, events } = runOne(undefined, uses);
    await vi.advanceTimersByTimeAsync(1000);
    await attempts.handle({ type: 'error', code: 'message.unknown-type', message: 'no' }, () => undefined);
    expect(nextOf(attempts)).toBeNull();
    expect(events.map(({ type }) => type)).toEqual(['started']);
    await attempts.welcome(WELCOME);
    expect(nextOf(attempts)).toEqual(total);
  });
});

describe('a task that the hub drops', () => {
  it.each([[false], [true]])('keeps its other attempt (which has ended: %s)', async (hasEnded) => {
    const answer = Promise.withResolvers<string>();
    // The first is slow to stop.
    const first = Promise.withResolvers<string>();
    const { attempts } = runOne(undefined, ({ attempt }) => (attempt === 2 ? answer.promise : first.promise));
    const { taskId } = EXECUTE;
    await attempts.handle({ ...EXECUTE, token: 2, attempt: 2 }, () => undefined);
    if (hasEnded) answer.resolve('done');
    await expect.poll(() => attempts.names().finished.length).toBe(hasEnded ? 1 : 0);
    expect(attempts.names().running).toContainEqual({ taskId, token: 1 });
    await attempts.welcome({ ...WELCOME, keep: [taskId], drop: [taskId], resume: [{ taskId, token: 2, seq: 0 }] });
    answer.resolve('done');
    first.resolve('');
    await expect.poll(() => attempts.names()).toEqual({ running: [], finished: [{ taskId, token: 2 }] });
    expect(nextOf(attempts)).toMatchObject({ type: 'task.completed', token: 2, output: 'done' });
  });
});

describe('an attempt that runs', () => {
  const { taskId, token } = EXECUTE;

  it('keeps its end although the hub acknowledges one that it does not have yet', async () => {
    const answer = Promise.withResolvers<string>();
    const { attempts, changed } = runOne(undefined, () => answer.promise);
    await attempts.handle({ type: 'task.acknowledged', taskId, token, outcome: 'refused' }, () => undefined);
    answer.resolve('done');
    await changed;
    expect(nextOf(attempts)).toMatchObject({ type: 'task.completed', output: 'done' });
  });

  it('ends as stopped, without what its handler does afterwards', async () => {
    const { attempts, changed } = runOne(undefined, async (_task, { signal, write }) => {
      write('before');
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      write('after');
      return 'done all the same';
    });
    await attempts.handle({ type: 'task.cancel', taskId, token, reason: 'enough' }, () => undefined);
    await changed;
    expect(nextOf(attempts)).toMatchObject({ type: 'task.output', seq: 1, text: 'before' });
    expect(nextOf(attempts)).toMatchObject({ type: 'task.failed', error: { code: 'CANCELLED' } });
    expect(nextOf(attempts)).toBeNull();
  });
});
