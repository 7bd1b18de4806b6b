import { describe, expect, it } from 'vitest';
import { isTerminal, isTransition, TASK_STATUSES, TRANSITIONS, type TaskStatus } from '#shared/tasks/transitions.ts';

/** As the contract has it, from -> to, written again on purpose: a change of the table is a change of the contract. */
const CONTRACT: Record<TaskStatus | 'new', string> = {
  new: 'pending',
  pending: 'cancelled queued skipped stale',
  queued: 'cancelled scheduled stale',
  scheduled: 'cancelled queued running',
  running: 'cancelled completed failed queued suspended timeout',
  suspended: 'cancelled permanently_failed queued',
  failed: 'permanently_failed queued',
  timeout: 'permanently_failed queued',
  completed: '',
  cancelled: '',
  stale: '',
  skipped: '',
  permanently_failed: 'pending',
};

const ALL = ['new', ...TASK_STATUSES] as const;

describe('the table of transitions', () => {
  it.each(ALL)('leads from %s to what the contract says and nowhere else', (from) => {
    expect(Object.keys(TRANSITIONS[from]).toSorted().join(' ')).toBe(CONTRACT[from]);
    for (const to of TASK_STATUSES) expect(isTransition(from, to)).toBe(CONTRACT[from].split(' ').includes(to));
  });

  it('ends in the five terminal states, of which only a permanent failure can be reopened', () => {
    expect(TASK_STATUSES.filter(isTerminal).toSorted()).toEqual(['cancelled', 'completed', 'permanently_failed', 'skipped', 'stale']);
    expect(TASK_STATUSES.filter((status) => isTerminal(status) && Object.keys(TRANSITIONS[status]).length > 0)).toEqual([
      'permanently_failed',
    ]);
  });

  it('leads from every state to an end', () => {
    const reaches = (from: TaskStatus | 'new', seen: Set<string>): boolean => {
      if (from !== 'new' && isTerminal(from)) return true;
      if (seen.has(from)) return false;
      seen.add(from);
      return TASK_STATUSES.some((to) => isTransition(from, to) && reaches(to, seen));
    };
    for (const from of ALL) expect([from, reaches(from, new Set())]).toEqual([from, true]);
  });
});
