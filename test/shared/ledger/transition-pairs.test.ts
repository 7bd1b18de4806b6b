import { describe, expect, it } from 'vitest';
import type { AttemptEnd } from '#shared/ledger/settle/attempt-end.ts';
import { nextState } from '#shared/ledger/settle/next-state.ts';
import { runScript } from '#shared/redis/script.ts';
import { parseTimeline } from '#shared/tasks/task-record.ts';
import type { TaskState } from '#shared/tasks/task-state.ts';
import { hasAttempt, isTransition, TASK_STATUSES, type TaskStatus } from '#shared/tasks/transitions.ts';
import { ownScript } from './support/own-script.ts';
import { DONE, FAILURE, retry } from './support/test-ledger.ts';
import { useLedger } from './support/use-ledger.ts';

const SCRIPT = `-- Takes a task from one status to another, as every script does.
-- KEYS[1] any: not used
-- ARGV[1] options: JSON of the bounds
-- ARGV[2] from: a status, or new
-- ARGV[3] to: a status
-- RETURNS the status and the timeline
-- include: transitions
-- include: body-layout
-- include: states
-- include: context
local context = open_context(ARGV[1], KEYS[1], KEYS[1], KEYS[1], KEYS[1], KEYS[1], KEYS[1])
local task = {}
if ARGV[2] ~= 'new' then task.status, task.log = ARGV[2], ARGV[2] .. '@1' end
enter(context, task, ARGV[3], 'a note; of two\\nlines')
return { task.status, task.log }
`;

const test = await useLedger();
const script = await ownScript(SCRIPT);

const enter = async (from: string, to: string, maxTimelineBytes = 10_000): Promise<unknown> =>
  await runScript(test.redis, script, ['any'], [JSON.stringify({ maxTimelineBytes }), from, to]);

const PAIRS = (['new', ...TASK_STATUSES] as const).flatMap((from) => TASK_STATUSES.map((to) => ({ from, to })));

describe('the scripts', () => {
  it.each(PAIRS.filter(({ from, to }) => isTransition(from, to)))('take a task from $from to $to', async ({ from, to }) => {
    const [status, log] = (await enter(from, to)) as [string, string];
    expect(status).toBe(to);
    expect(log.split(';').at(-1)).toMatch(new RegExp(`^${to}@\\d{13} a note, of two,lines$`));
  });

  it.each(PAIRS.filter(({ from, to }) => !isTransition(from, to)))('refuse to take a task from $from to $to', async ({ from, to }) => {
    await expect(enter(from, to)).rejects.toThrow(`ILLEGAL ${from} -> ${to}`);
  });

  it('refuse a status that is none', async () => {
    await expect(enter('pending', 'lost')).rejects.toThrow('ILLEGAL pending -> lost');
  });
});

const VERDICTS: [AttemptEnd, TaskStatus][] = [
  [DONE, 'completed'],
  [{ kind: 'cancelled', reason: 'no' }, 'cancelled'],
  [{ kind: 'interrupted', reason: 'drain', delayMs: 0 }, 'queued'],
  [retry(5), 'failed'],
  [retry(null), 'permanently_failed'],
  [{ kind: 'timeout', error: FAILURE, delayMs: 5, usage: null }, 'timeout'],
];

const state = (status: TaskStatus): TaskState => ({
  status,
  agent: 'echo',
  source: 'api',
  queue: 'tasks',
  priority: 5,
  class: 'u1',
  maxAttempts: 3,
  timeoutMs: 1000,
  token: 1,
  spent: 1,
  attempt: 1,
  ticket: 1,
  createdAt: 1,
  startedAt: 1,
  log: 'pending@1;queued@1;scheduled@1;running@1',
});

describe('a verdict', () => {
  it.each(VERDICTS)('takes a running task along the table: %o', (verdict, status) => {
    expect(nextState(state('running'), verdict, 2).status).toBe(status);
  });

  it.each(VERDICTS)('takes a task that its daemon has not accepted along the table, by %o', (verdict) => {
    const scheduled = { ...state('scheduled'), log: 'pending@1;queued@1;scheduled@1' };
    const path = parseTimeline(nextState(scheduled, verdict, 2).log).map(({ status }) => status);
    for (const [at, to] of path.slice(1).entries()) expect(isTransition(path[at] ?? 'new', to)).toBe(true);
    expect(path.includes('running')).toBe(
      !['cancelled', 'interrupted'].includes(verdict.kind) && !(verdict.kind === 'failed' && verdict.delayMs !== null),
    );
  });

  it.each(TASK_STATUSES.filter((status) => !hasAttempt(status)))('is refused over a task that is %s', (status) => {
    // Others are allowed from some of these: what a cancel and a drain do to a task that does not run.
    const own = VERDICTS.filter(([{ kind }]) => kind !== 'cancelled' && kind !== 'interrupted');
    for (const [verdict] of own) expect(() => nextState(state(status), verdict, 2)).toThrow(`from ${status} to`);
  });
});

describe('the timeline of a task', () => {
  it('loses its oldest entries but the first when it is full, and never the newest', async () => {
    const filler = Array.from({ length: 30 }, (_, n) => `queued@${n}`).join(';');
    const long = await ownScript(SCRIPT.replace("ARGV[2] .. '@1'", `'pending@1;${filler}'`));
    const [, log] = (await runScript(test.redis, long, ['any'], [JSON.stringify({ maxTimelineBytes: 120 }), 'queued', 'scheduled'])) as [
      string,
      string,
    ];
    expect(log.length).toBeLessThanOrEqual(120);
    expect(log).toMatch(/^pending@1;queued@2\d;.*;scheduled@\d+ a note/);
  });
});
