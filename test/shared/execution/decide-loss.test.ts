import { describe, expect, it } from 'vitest';
import { settingsSchema } from '#shared/config/settings/settings.ts';
import { decideLoss, type Loss } from '#shared/execution/decide-retry.ts';
import type { AttemptEnd } from '#shared/ledger/settle/attempt-end.ts';
import type { TaskState } from '#shared/tasks/task-state.ts';

const settings = settingsSchema.parse({ limits: { maxWorkerLosses: 2 } });

/** A task whose first attempt runs. */
const FIRST_STATE: TaskState = {
  status: 'running',
  agent: 'echo',
  source: 'api',
  createdAt: 1,
  queue: 'tasks',
  priority: 5,
  class: 'u1',
  maxAttempts: 10,
  timeoutMs: 1000,
  token: 1,
  attempt: 1,
  spent: 1,
  ticket: 1,
  worker: 'w1',
  log: '',
};

/** What follows the losses of a guilty task, one after another, with what its journal had at each. */
function lose(...journals: Loss['journal'][]): AttemptEnd[] {
  const ends: AttemptEnd[] = [];
  const state: TaskState = { ...FIRST_STATE };
  for (const journal of journals) {
    const end = decideLoss(state, { blame: 'guilty', journal: journal ?? null }, settings);
    ends.push(end);
    const { losses, journaled } = end as { losses?: number; journaled?: number };
    Object.assign(state, losses === undefined ? {} : { losses }, journaled === undefined ? {} : { journaled });
  }
  return ends;
}

const at = (done: number, step: string | null = null): { done: number; step: string | null } => ({ done, step });

describe('a run that is lost with its process', () => {
  it('goes on at once and for free each time that its journal has grown since the loss before', () => {
    const ends = lose(at(3), at(5), at(6), at(9));
    expect(ends.map(({ kind }) => kind)).toEqual(['interrupted', 'interrupted', 'interrupted', 'interrupted']);
    expect(ends[3]).toMatchObject({ delayMs: 0, losses: 0, journaled: 9 });
  });

  it('is charged where it has not, and fails for good after so many of these losses, with its step named', () => {
    const ends = lose(at(3, 'pay'), at(3, 'pay'), at(3, 'pay'));
    expect(ends.map(({ kind }) => kind)).toEqual(['interrupted', 'failed', 'failed']);
    expect(ends[1]).toMatchObject({ losses: 1, delayMs: expect.any(Number) });
    expect(ends[2]).toMatchObject({
      losses: 2,
      delayMs: null,
      error: { code: 'WORKER_LOST', message: expect.stringContaining('in the step "pay"') },
    });
  });

  it('begins to count again once it has grown', () => {
    const ends = lose(at(3), at(3), at(4), at(4), at(4));
    expect(ends.map(({ kind }) => kind)).toEqual(['interrupted', 'failed', 'interrupted', 'failed', 'failed']);
    expect(ends.map((end) => (end as { losses?: number }).losses)).toEqual([0, 1, 0, 1, 2]);
  });

  it('is charged from the first on without a journal', () => {
    expect(lose(null, null).map(({ kind }) => kind)).toEqual(['failed', 'failed']);
  });

  it('ends at once where its agent says that it must not repeat, however far it came', () => {
    expect(decideLoss(FIRST_STATE, { blame: 'unknown', journal: at(5), route: 'stop' }, settings)).toMatchObject({
      kind: 'failed',
      delayMs: null,
    });
  });
});
