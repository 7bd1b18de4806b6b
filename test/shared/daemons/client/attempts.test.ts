import { describe, expect, it } from 'vitest';
import { Attempts, type AttemptsOptions } from '#shared/daemons/client/attempts.ts';
import type { DaemonEvent } from '#shared/daemons/client/daemon-event.ts';
import type { DaemonHandler } from '#shared/daemons/client/daemon-task.ts';
import { KEEP_IN_MEMORY } from '#shared/daemons/client/finished-results.ts';
import type { HubMessage } from '#shared/daemons/protocol.ts';

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

/** Runs one attempt, whose end is saved as `save` says. */
function runOne(
  save: AttemptsOptions['results']['save'] = () => Promise.resolve(),
  handler: DaemonHandler = () => Promise.resolve('done'),
): { attempts: Attempts; events: DaemonEvent[]; changed: Promise<void> } {
  const changed = Promise.withResolvers<void>();
  const events: DaemonEvent[] = [];
  const attempts = new Attempts({
    handler,
    results: { ...KEEP_IN_MEMORY, save },
    maxOutput: 1000,
    maxMessageBytes: 1000,
    onEvent: (event) => events.push(event),
    onChange: () => {
      if (events.some(({ type }) => type === 'ended')) changed.resolve();
    },
  });
  void attempts.handle(EXECUTE, () => undefined);
  return { attempts, events, changed: changed.promise };
}

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
