import { afterEach, describe, expect, it } from 'vitest';
import { iterateAudit, type StoredAuditEntry } from '#shared/audit/audit-log.ts';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { handleMessage } from '#shared/sessions/handle-message.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { listSchedules } from '#shared/schedules/store/list-schedules.ts';
import type { Schedule } from '#shared/schedules/store/schedule.ts';
import { openScheduleParts, type ScheduleParts } from '#shared/schedules/schedule-parts.ts';
import type { Task } from '#shared/tasks/task.ts';
import { traceIdOf } from '#shared/log/traces/traceparent.ts';
import { systemClock } from '#shared/time/clock.ts';
import { applyDirectives } from '#shared/execution/apply-directives.ts';
import { RunningAttempt } from '#shared/execution/attempt/running-attempt.ts';
import { waitFor } from '../../support/wait-for.ts';
import { useParts } from '../../support/use-parts.ts';
import { useWorker } from '../../support/use-worker.ts';
import { awaitEnd } from '../../support/agents/await-task.ts';

/** Stands for an agent that decides for itself: its answer is its input. */
const repeats: AgentFunction = (task) => Promise.resolve(task.input);
const writes: AgentFunction = (task, context) => {
  for (const piece of task.input.split('|')) context.write(piece);
  return Promise.resolve();
};

const parts = await useParts({
  agents: {
    echo: { kind: 'echo' },
    planner: { kind: 'function', run: repeats },
    writer: { kind: 'function', run: writes },
    quiet: { kind: 'function', run: repeats, directives: false },
  },
  scheduler: { maxDirectivesPerRun: 3 },
});
const schedules = openScheduleParts(parts);
await useWorker(parts);
afterEach(async () => {
  for (const id of ['default', 'acme']) {
    const keys = parts.keys.tenant(id);
    await parts.redis.del(keys.schedules, keys.scheduleNumbers, keys.scheduleKeys);
  }
});

async function run(input: string, request: Partial<AcceptRequest> = {}): Promise<Task> {
  const { id } = await acceptTask(parts, { tenant: 'default', agent: 'planner', input, ...request });
  return await awaitEnd(parts, id, request.tenant);
}

async function made(tenant = 'default'): Promise<Schedule[]> {
  return (await listSchedules(schedules, tenant, {}, { limit: 50, before: null })).items.toReversed();
}

/** Newest first. */
async function auditOf(tenant = 'default'): Promise<StoredAuditEntry[]> {
  const found: StoredAuditEntry[] = [];
  for await (const { entries } of iterateAudit({ ...parts, settings: parts.settings }, tenant, {})) found.push(...entries);
  return found;
}

describe('a directive of an agent', () => {
  it('makes a schedule for its agent, and is replaced by the result', async () => {
    const task = await run('Deploy is under way.\n/schedule in 1 hour: review the deploy status\nSee you then.');
    const [schedule] = await made();
    expect(task.state.status).toBe('completed');
    expect(task.output).toMatch(
      new RegExp(
        [
          '^Deploy is under way\\.',
          '\\[/schedule create in 1 hour: review the deploy \\.\\.\\.\\]',
          `OK: scheduled #${schedule?.number} in 1 hour \\(\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d\\S*\\) → planner`,
          '  message: review the deploy status',
          '\\[END SCHEDULE\\]',
          'See you then\\.$',
        ].join('\n'),
      ),
    );
    expect(schedule).toMatchObject({ agent: 'planner', message: 'review the deploy status', rule: { kind: 'once' }, reply: null });
    expect(traceIdOf(schedule?.traceparent ?? '')).toBe(traceIdOf(task.body.traceparent));
  });

  it('is an entry of the audit log, with the task that wrote it, unless it changes nothing', async () => {
    const before = (await auditOf()).length;
    const task = await run('/schedule in 1 hour: look again\n/schedule list\n/schedule cancel 4711');
    const number = (await made())[0]?.number;
    expect((await auditOf()).slice(0, -before || undefined)).toMatchObject([
      { action: 'agentScheduleCancel', object: 'schedules/4711', outcome: 'refused' },
      {
        action: 'agentSchedule',
        object: `schedules/${number}`,
        outcome: 'done',
        via: 'agent',
        from: `tasks/${task.body.id}`,
        actor: { kind: 'agent', id: task.body.id, name: 'planner' },
      },
    ]);
  });

  it('lists, pauses, resumes and cancels by number, in the order in which it stands there', async () => {
    await run('/schedule every monday at 09:00: summarise the week');
    const number = (await made())[0]?.number;
    const paused = await run(`/schedule pause ${number}\n/schedule list`);
    expect(paused.output).toContain(`OK: paused #${number}\n[END SCHEDULE]\n[/schedule list]\nOK: 1 schedule\n  #${number} paused `);
    const gone = await run(`/schedule resume ${number}\n/schedule cancel ${number}\n/schedule cancel ${number}`);
    expect(gone.output?.match(/^(OK|ERR): .*$/gm)).toEqual([
      expect.stringContaining(`OK: resumed #${number} (`),
      `OK: canceled #${number}`,
      `ERR: there is no schedule #${number}`,
    ]);
    expect(await made()).toEqual([]);
  });

  it('that cannot be read is answered with the accepted forms, and fails nothing', async () => {
    const task = await run('Done.\n/schedule whenever you like: look again');
    expect(task.state.status).toBe('completed');
    expect(task.output).toMatch(/^Done\.\n\[\/schedule create whenever you like: look again\]\nERR: .*Accepted forms:\n {2}\S/);
    expect(await made()).toEqual([]);
  });

  it('is applied as its tenant, who sees nothing of another’s', async () => {
    const theirs = await run('/schedule every hour: look\n/schedule list', { tenant: 'acme' });
    expect(theirs.output).toContain('OK: 1 schedule');
    expect([(await made('acme')).length, (await made()).length]).toEqual([1, 0]);
    const [other] = await made('acme');
    expect((await run(`/schedule cancel ${other?.number}`)).output).toContain('ERR: there is no schedule');
  });

  it('in answer to a visitor is not applied, and stays as it was', async () => {
    const text = 'Sure.\n/schedule list';
    const answer = await handleMessage(parts, { tenant: 'default', session: 'parlour', text, agent: 'planner', visitor: 'key_1' });
    const id = answer.kind === 'accepted' ? answer.accepted.id : '';
    const task = await waitFor(async () => [await readTask(parts.ledger, 'default', id)].find((found) => found?.output), {
      deadlineMs: 8000,
      what: 'the answer',
    });
    expect(task?.output).toBe(text);
  });

  it('is bounded: what is too much stays as it was, with a note', async () => {
    const task = await run([1, 2, 3, 4].map((hours) => `/schedule in ${hours} hours: look`).join('\n'));
    expect(task.output?.match(/^OK: /gm)).toHaveLength(3);
    expect(task.output).toMatch(/\n\/schedule in 4 hours: look\n\n\[.* one was not applied: one answer has at most 3/);
    expect(await made()).toHaveLength(3);
  });

  it('goes out as it was written, and is kept with what came of it', async () => {
    const task = await run('Well.\n|/schedule in 2 |hours: look\n', { agent: 'writer' });
    const entries = await parts.redis.xrange(parts.keys.tenant('default').output(task.body.id), '-', '+');
    expect(entries.map(([, fields]) => fields.at(-1)).join('')).toBe('Well.\n/schedule in 2 hours: look\n');
    expect(task.output).toMatch(/^Well\.\n\[\/schedule create in 2 hours: look\]\nOK: /);
  });

  it('is not applied where its agent may not give any, or only echoes', async () => {
    const text = '/schedule in 1 hour: look';
    expect((await run(text, { agent: 'quiet' })).output).toBe(text);
    expect((await run(text, { agent: 'echo' })).output).toBe(text);
    expect(await made()).toEqual([]);
  });

  it('comes back to the chat that it was written in', async () => {
    const reply = { platform: 'telegram', thread: '"telegram:7"' };
    await run('/schedule in 1 hour: look', { source: 'chat', session: 'telegram-7', channel: 'telegram', reply, user: 'ada' });
    await run('/schedule in 2 hours: look', { source: 'chat', session: 'web', channel: 'webchat' });
    await run('/schedule in 3 hours: look', { session: 'by-api' });
    expect((await made()).map(({ reply: to, session, platform, user }) => ({ to, session, platform, user }))).toEqual([
      { to: reply, session: null, platform: 'telegram', user: 'ada' },
      { to: null, session: 'web', platform: null, user: null },
      { to: null, session: null, platform: null, user: null },
    ]);
  });
});

const using = (changed: Partial<ScheduleParts> = {}): Parameters<typeof applyDirectives>[0] => ({
  schedules: { ...schedules, ...changed },
  catalog: parts.catalog,
  clock: systemClock,
});

describe('applying the directives of an answer', () => {
  const silent = { debug: () => undefined, info: () => undefined, error: () => undefined };

  /** An attempt that has answered and is not settled. */
  async function begin(heldForMs = 10_000): Promise<Parameters<typeof applyDirectives>[1]> {
    const { id } = await acceptTask(parts, { tenant: 'default', agent: 'planner', input: 'nothing' });
    const { body } = (await readTask(parts.ledger, 'default', id)) as Task;
    const now = systemClock.monotonic();
    const { state } = (await readTask(parts.ledger, 'default', id))!;
    const attempt = new RunningAttempt({
      ref: { tenant: 'default', id, lane: null, token: 1 },
      stored: JSON.stringify(state),
      first: state,
      takesInput: false,
      claimedAt: { redis: Date.now(), monotonic: now },
      heldUntil: now + heldForMs,
      clock: { monotonic: () => 0 },
    });
    return {
      body,
      attempt,
      files: { opened: [] } as never,
      journal: { inputs: { heard: { all: [] } } } as never,
      log: { ...parts.log, ...silent },
    };
  }
  it('makes nothing twice when the task is run again before it was settled', async () => {
    const answering = await begin();
    const text = '/schedule in 1 hour: look\n/schedule in 1 hour: look';
    const first = await applyDirectives(using(), answering, text);
    const again = await applyDirectives(using(), { ...answering, attempt: (await begin()).attempt }, text);
    expect(first.match(/#\d+/g)).toHaveLength(2);
    expect(again).toBe(first);
    expect(await made()).toHaveLength(2);
    const other = '/schedule in 5 hours: something else';
    expect(await applyDirectives(using(), answering, other)).toContain('ERR: an earlier attempt ');
    expect(await made()).toHaveLength(2);
  });

  it('does nothing for an attempt that was stopped, or whose lease is over', async () => {
    const answering = await begin();
    answering.attempt.stop({ kind: 'drain' });
    const text = '/schedule in 1 hour: look';
    await expect(applyDirectives(using(), answering, text)).rejects.toMatchObject({ stop: { kind: 'drain' } });
    const expired = await begin(0);
    await expect(applyDirectives(using(), expired, text)).rejects.toMatchObject({ stop: { kind: 'lease-lost' } });
    expect(await made()).toEqual([]);
  });

  it('waits for a Redis that is away', async () => {
    let reads = 0;
    const now = (): Promise<number> => {
      reads += 1;
      return reads === 1 ? Promise.reject(new Error('Connection is closed.')) : schedules.now();
    };
    expect(await applyDirectives(using({ now }), await begin(), '/schedule in 1 hour: look')).toContain('OK: scheduled');
    expect(reads).toBe(2);
  });

  it('reports an error in its place, and continues with the next', async () => {
    let reads = 0;
    const now = (): Promise<number> => {
      reads += 1;
      return reads === 1 ? Promise.reject(new Error('a mistake')) : schedules.now();
    };
    const text = '/schedule in 1 hour: look\n/schedule in 2 hours: look';
    const output = await applyDirectives(using({ now }), await begin(), text);
    expect(output.match(/^(OK|ERR): \w+/gm)).toEqual(['ERR: this', 'OK: scheduled']);
  });
});
