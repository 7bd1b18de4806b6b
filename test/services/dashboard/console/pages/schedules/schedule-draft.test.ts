import { describe, expect, it } from 'vitest';
import type { Schedule } from '#shared/client/openapi.gen.ts';
import { ApiProblem } from '../../../../../../services/dashboard/console/api/api-problem.ts';
import {
  changesOf,
  toDraft,
  fieldProblems,
  toNewSchedule,
} from '../../../../../../services/dashboard/console/pages/schedules/schedule-draft.ts';

const SCHEDULE: Schedule = {
  id: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  number: 3,
  name: 'Stand-up',
  kind: 'cron',
  rule: '0 9 * * 1',
  sentence: 'At 09:00, only on Monday',
  tz: 'Europe/Berlin',
  agent: 'echo',
  message: 'Collect notes',
  status: 'active',
  priority: 10,
  within: null,
  channel: 'C1',
  platform: 'slack',
  missed: 'all(20)',
  overlap: 'queue',
  next: [],
  runCount: 0,
  context: null,
  pausedReason: null,
  callbackUrl: null,
  maxLateness: null,
  jitter: null,
  exact: false,
  until: null,
  maxRuns: null,
  nextFireAt: null,
  lastRunAt: null,
  lastRunId: null,
  madeBy: null,
  createdAt: '2026-05-01T09:00:00.000Z',
  updatedAt: '2026-05-01T09:00:00.000Z',
};
const before = toDraft(SCHEDULE);

describe('the form of a schedule', () => {
  it('starts with the schedule, and saves nothing without a change', () => {
    expect(before).toMatchObject({ phrase: '0 9 * * 1', missed: 'all(20)', platform: 'slack', channel: 'C1', name: 'Stand-up' });
    expect(changesOf(before, { ...before, name: ' Stand-up ' })).toEqual({});
  });

  it('saves only the changed fields, so that a new name recomputes no times', () => {
    expect(changesOf(before, { ...before, name: 'Daily', priority: 5 })).toEqual({ name: 'Daily', priority: 5 });
    expect(changesOf(before, { ...before, within: '1d' })).toEqual({ within: '1d' });
    expect(changesOf(toDraft({ ...SCHEDULE, within: '1d' }), before)).toEqual({ within: null });
    expect(changesOf(before, { ...before, phrase: 'every day at 8', tz: 'UTC', overlap: 'skip' })).toEqual({
      phrase: 'every day at 8',
      tz: 'UTC',
      overlap: 'skip',
    });
  });

  it('removes emptied fields, and sends platform and channel together', () => {
    expect(changesOf(before, { ...before, name: ' ' })).toEqual({ name: null });
    expect(changesOf(before, { ...before, platform: '' })).toEqual({ platform: null, channel: null });
    expect(changesOf(before, { ...before, channel: 'C2' })).toEqual({ platform: 'slack', channel: 'C2' });
  });

  it('sends no destination for a schedule from a chat that has none of its own', () => {
    const own = toDraft({ ...SCHEDULE, platform: null, channel: null });
    expect(changesOf(own, { ...own, message: 'Other' })).toEqual({ message: 'Other' });
  });

  it('creates a schedule without the empty fields', () => {
    expect(toNewSchedule({ ...before, name: '', platform: '' })).toEqual({
      phrase: '0 9 * * 1',
      message: 'Collect notes',
      agent: 'echo',
      tz: 'Europe/Berlin',
      priority: 10,
      overlap: 'queue',
      missed: 'all(20)',
    });
  });
});

const problem = (code: string, detail: string, details?: Record<string, unknown>): ApiProblem =>
  new ApiProblem({ code, status: 422, detail, details });

describe('a problem of a schedule', () => {
  it.each([
    ['agent.unknown', 'There is no agent "x"', { agent: 'x' }, { agent: 'There is no agent "x"' }],
    ['schedule.unknown-zone', 'Mars is no IANA time zone', { zone: 'Mars' }, { tz: 'Mars is no IANA time zone' }],
    [
      'schedule.unreadable',
      '"x" is no rule that can be read. Accepted forms: ...',
      { reason: 'is no rule that can be read' },
      { phrase: 'This is no rule that can be read.' },
    ],
    ['request.invalid', 'missed: expected all(1) to all(20)', undefined, { missed: 'expected all(1) to all(20)' }],
    [
      'request.invalid',
      'body.name: too long; body.message: too short',
      {
        problems: [
          { path: 'body.name', message: 'too long' },
          { path: 'body.message', message: 'too short' },
        ],
      },
      { name: 'too long', message: 'too short' },
    ],
  ])('%s is shown at its field', (code, detail, details, expected) => {
    expect(fieldProblems(problem(code, detail, details))).toEqual(expected);
  });

  it.each([
    problem('unavailable.redis', 'Redis does not answer'),
    problem('request.invalid', 'until: this schedule would never fire'),
    problem('request.invalid', 'A tenant has at most 3 schedules'),
    problem('request.invalid', 'x', { problems: [{ path: 'body.context', message: 'x' }] }),
    new TypeError('failed to fetch'),
  ])('is shown below the form when it concerns none of its fields: $message', (error) => {
    expect(fieldProblems(error)).toBeNull();
  });
});
