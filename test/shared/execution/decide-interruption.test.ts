import { describe, expect, it } from 'vitest';
import { settingsSchema } from '#shared/config/settings/settings.ts';
import { decideInterruption, type LeftBehind } from '#shared/execution/decide-interruption.ts';
import { nextState } from '#shared/ledger/settle/next-state.ts';
import type { Interruption } from '#shared/ledger/settle/attempt-end.ts';
import type { TaskState } from '#shared/tasks/task-state.ts';

const settings = settingsSchema.parse({ worker: { maxInterruptions: 3 } });

const FIRST_STATE = {
  status: 'running',
  agent: 'writer',
  maxAttempts: 3,
  timeoutMs: 1000,
  token: 1,
  attempt: 1,
  spent: 1,
  ticket: 1,
  log: 'pending@1;queued@1;scheduled@1;running@1',
} as TaskState;

const nothing: LeftBehind = { journal: null, hasKeptSession: false };
const steps = (done: number): LeftBehind => ({ ...nothing, journal: { done, step: null } });

/** What follows when its worker ends again and again. Returns each interruption, and the state after the last. */
function interrupt(lefts: readonly LeftBehind[], changed = settings): { ends: Interruption[]; state: TaskState } {
  const ends: Interruption[] = [];
  let state: TaskState = { ...FIRST_STATE };
  for (const left of lefts) {
    const end = decideInterruption(state, changed, left);
    ends.push(end);
    const { log } = FIRST_STATE;
    state = nextState(Object.assign(state, { status: 'running', spent: 1, log }), end, 2);
  }
  return { ends, state };
}

const holdsOf = (ends: readonly Interruption[]): (string | undefined)[] => ends.map(({ hold }) => hold?.gate);

describe('a run whose worker ends', () => {
  it('is held once that has happened so often in a row without a step that is kept, and has spent no attempt', () => {
    const { ends, state } = interrupt([nothing, nothing, nothing]);
    expect(holdsOf(ends)).toEqual([undefined, undefined, 'interruptions']);
    expect(ends[2]).toMatchObject({
      delayMs: settings.retries.maxHoldMs,
      hold: { what: 'writer' },
      reason: expect.stringContaining('3 times in a row'),
    });
    expect(state).toMatchObject({ status: 'queued', gate: 'interruptions', interruptions: 3, spent: 0 });
  });

  it('is counted from the start again with each step that is kept', () => {
    const { ends, state } = interrupt([steps(2), steps(2), steps(2), steps(3), steps(3)]);
    expect(ends.map(({ interruptions }) => interruptions)).toEqual([0, 1, 2, 0, 1]);
    expect(holdsOf(ends)).not.toContain('interruptions');
    expect(state.journaled).toBe(3);
  });

  it('makes way each time that its program has kept its session', () => {
    const kept = { ...nothing, hasKeptSession: true };
    expect(holdsOf(interrupt([kept, kept, kept, kept]).ends)).not.toContain('interruptions');
  });

  it('is never held where the setting is null', () => {
    const never = settingsSchema.parse({ worker: { maxInterruptions: null } });
    const { ends, state } = interrupt(
      Array.from({ length: 20 }, () => nothing),
      never,
    );
    expect(holdsOf(ends)).not.toContain('interruptions');
    expect(state.interruptions).toBe(20);
  });

  it('is counted from the start again once an attempt has failed by itself', () => {
    const { state } = interrupt([nothing, nothing]);
    const error = { code: 'AGENT_ERROR', message: 'no', retryable: true };
    const { log } = FIRST_STATE;
    const failed = nextState({ ...state, status: 'running', log }, { kind: 'failed', error, delayMs: 1 }, 3);
    expect([state.interruptions, failed.interruptions]).toEqual([2, undefined]);
  });

  it('names the step before which it was handed over', () => {
    expect(decideInterruption(FIRST_STATE, settings, { ...steps(2), before: 'publish' }).reason).toContain('before the step "publish"');
  });
});
