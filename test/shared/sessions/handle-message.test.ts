import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import { hasCode } from '#shared/errors/error-codes.ts';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { beat } from '#shared/queue/registry/worker-registry.ts';
import { workerReportSchema } from '#shared/queue/registry/worker-report.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { handleMessage, type MessageParts } from '#shared/sessions/handle-message.ts';
import type { IncomingMessage } from '#shared/sessions/incoming-message.ts';
import { readSession } from '#shared/sessions/session-record.ts';
import { readChoices } from '#shared/sessions/session-store.ts';
import { parseTimeline } from '#shared/tasks/task-record.ts';
import type { Task } from '#shared/tasks/task.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { useRedis } from '../../support/redis/use-redis.ts';

const server = await useRedis();

const SETTINGS: SettingsInput = {
  agents: { echo: { kind: 'echo' }, poet: { kind: 'echo' }, clerk: { kind: 'echo' } },
  routing: {
    queue: { bySurface: { pager: 'reject' } },
    agents: [
      { surface: 'slack', channel: 'C1', user: 'ada', agent: 'poet' },
      { surface: 'slack', agent: 'clerk' },
    ],
  },
};

const LATEST: SettingsInput = { ...SETTINGS, routing: { queue: { mode: 'latest', bySurface: { pager: 'reject' } } } };

const open = (settings: SettingsInput): Promise<Parts> => openTestParts({ redisUrl: server.url, settings });

const parts = closeAfterTests(await open(SETTINGS));
afterEach(async () => {
  await parts.cancels.idle();
  await parts.relay.idle();
  await parts.redis.flushall();
});

async function openForThisTest(settings: SettingsInput): Promise<Parts> {
  const other = await open(settings);
  onTestFinished(() => other.close());
  return other;
}

const SAID: IncomingMessage = { tenant: 'acme', session: 'room', text: 'hello' };

async function say(text: string, more: Partial<IncomingMessage> = {}, to: MessageParts = parts): Promise<string> {
  const answer = await handleMessage(to, { ...SAID, ...more, text });
  return answer.kind === 'accepted' ? answer.accepted.id : answer.text;
}

async function taskOf(id: string): Promise<Task> {
  const task = await readTask(parts.ledger, 'acme', id);
  if (!task) throw new Error(`There is no task: ${id}`);
  return task;
}

const visitorOf = async (more: Partial<IncomingMessage>): Promise<string | null> => (await taskOf(await say('hello', more))).body.visitor;
const modeOf = async (id: string): Promise<string | undefined> => (await taskOf(id)).state.mode;
const statusOf = async (id: string): Promise<string> => (await taskOf(id)).state.status;

/** Begins an attempt, as a worker would. */
async function start(id: string): Promise<void> {
  const claim = await claimTask(parts.ledger, { tenant: 'acme', id, lane: 'session:room' }, 'worker-1');
  expect(claim.kind).toBe('claimed');
}

describe('a message', () => {
  it('of a person who may not make schedules is marked as of a guest, whose answer commands nothing', async () => {
    expect(await visitorOf({ denied: new Set(['schedule']) })).toBe('guest');
    expect(await visitorOf({ denied: new Set(['schedule']), visitor: 'v1' })).toBe('v1');
    expect(await visitorOf({ denied: new Set(['steer']) })).toBeNull();
  });

  it('becomes a chat task of its session, with what the surface said about it', async () => {
    const reply = { platform: 'slack', thread: '{"id":1}' };
    const id = await say('hello', { surface: 'slack', channel: 'C9', user: 'bob', sequence: 7, context: { a: 1 }, reply });
    expect((await taskOf(id)).body).toMatchObject({
      source: 'chat',
      session: 'room',
      input: 'hello',
      channel: 'C9',
      user: 'bob',
      context: { a: 1 },
      reply,
    });
    expect((await taskOf(await say('hello', { session: 'other' }))).body).toMatchObject({ channel: 'webchat', user: null, reply: null });
  });

  it('waits in the order of the surface’s numbers, however it arrived', async () => {
    await start(await say('first', { sequence: 1, mode: 'queue' }));
    const ids = [];
    for (const sequence of [5, 3, 4, 2]) ids.push(await say(`number ${sequence}`, { sequence, mode: 'queue', user: `user ${sequence}` }));
    const { waiting } = await readSession(parts, 'acme', 'room');
    expect(waiting.map(({ text }) => text)).toEqual(['number 2', 'number 3', 'number 4', 'number 5']);
    expect(waiting.map(({ position }) => position)).toEqual([1, 2, 3, 4]);
  });

  it('makes one task when it is sent again under its key, also after another mode was chosen', async () => {
    const first = await handleMessage(parts, { ...SAID, idempotencyKey: 'update-1' });
    await say('/queue collect');
    const again = await handleMessage(parts, { ...SAID, idempotencyKey: 'update-1' });
    expect([first, again]).toMatchObject([
      { kind: 'accepted', accepted: { isDuplicate: false } },
      { kind: 'accepted', accepted: { isDuplicate: true } },
    ]);
    expect(again).toMatchObject({ accepted: { id: first.kind === 'accepted' ? first.accepted.id : '' } });
    await expect(say('something else', { idempotencyKey: 'update-1' })).rejects.toSatisfy((error) =>
      hasCode(error, 'task.idempotency-conflict'),
    );
  });

  it.each([
    ['no text', { text: ' \n' }],
    ['an empty session', { session: '' }],
    ['a session with a control character', { session: 'a\u0000b' }],
    ['a session that is too long', { session: 'x'.repeat(201) }],
  ])('is refused with %s', async (_what, change) => {
    await expect(handleMessage(parts, { ...SAID, ...change })).rejects.toSatisfy((error) => hasCode(error, 'request.invalid'));
  });
});

/** Delegates a part of the task. */
async function delegated(parentTaskId: string): Promise<string> {
  return (await acceptTask(parts, { tenant: 'acme', agent: 'poet', input: 'a part', parentTaskId })).id;
}

describe('a message in mode interrupt', () => {
  it('stops what the running task delegated with it, at every level', async () => {
    const first = await say('first');
    await start(first);
    const child = await delegated(first);
    const grandchild = await delegated(child);
    const second = await say('second', { mode: 'interrupt' });
    await parts.cancels.idle();
    expect((await taskOf(first)).state.cancel).toMatchObject({ by: second });
    const { outcome } = (await taskOf(grandchild)).state;
    expect(outcome).toMatchObject({ kind: 'cancelled', reason: 'its parent task was cancelled: a newer message took its place' });
    expect([await statusOf(child), await statusOf(second)]).toEqual(['cancelled', 'pending']);
  });
});

describe('the mode of a message', () => {
  it('is its own, else the session’s, else its surface’s, else the one for all', async () => {
    const latest = await openForThisTest(LATEST);
    expect(await modeOf(await say('a', { surface: 'unheard of' }, latest))).toBe('latest');
    expect(await modeOf(await say('b', { session: 'paged', surface: 'pager' }))).toBe('reject');
    await say('/queue collect');
    expect(await modeOf(await say('c', { surface: 'pager' }))).toBe('collect');
    expect(await modeOf(await say('d /queue steer', { surface: 'pager' }))).toBe('steer');
    expect(await modeOf(await say('e', { mode: 'interrupt' }))).toBe('interrupt');
    expect(await modeOf(await say('/queue queue f', { mode: 'interrupt' }))).toBe('queue');
    expect(await modeOf(await say('g', { mode: 'default' }))).toBe('collect');
  });

  it('has the defaults of the surfaces that the configuration does not name', async () => {
    const modes = [];
    for (const surface of ['telegram', 'whatsapp', 'discord', 'webchat', 'slack'])
      modes.push(await modeOf(await say('hello', { session: surface, surface })));
    expect(modes).toEqual(['interrupt', 'interrupt', 'queue', 'queue', 'queue']);
  });

  it('is the one for all on every surface that has none of its own, once an operator chose it', async () => {
    const latest = await openForThisTest(LATEST);
    const modes = [];
    for (const surface of ['telegram', 'whatsapp', 'discord', 'webchat', 'slack', 'pager'])
      modes.push(await modeOf(await say('hello', { session: surface, surface }, latest)));
    expect(modes).toEqual(['latest', 'latest', 'latest', 'latest', 'latest', 'reject']);
  });

  it('follows a choice at every process at once, until it is taken back', async () => {
    const elsewhere = await openForThisTest(SETTINGS);
    await say('/queue collect');
    expect(await modeOf(await say('a', {}, elsewhere))).toBe('collect');
    await say('/queue reset', {}, elsewhere);
    expect(await modeOf(await say('b'))).toBe('queue');
    expect(await readChoices(parts.ledger, 'acme', 'room')).toEqual({ mode: null, transcriptFrom: null, surface: null });
  });

  it('is a choice of one tenant’s session, and is forgotten in the end', async () => {
    await say('/queue collect');
    expect((await readChoices(parts.ledger, 'other', 'room')).mode).toBeNull();
    const left = await parts.redis.pttl(parts.keys.tenant('acme').session('room'));
    expect(left).toBeGreaterThan(29 * 86_400_000);
  });
});

const agentOf = async (more: Partial<IncomingMessage>): Promise<string> => (await taskOf(await say('hello', more))).body.agent;

describe('the agent of a message', () => {
  it('is whom it names, else whom the first rule that fits names', async () => {
    expect(await agentOf({ agent: 'echo', surface: 'slack' })).toBe('echo');
    expect(await agentOf({ surface: 'slack', channel: 'C1', user: 'ada' })).toBe('poet');
    expect(await agentOf({ surface: 'slack', channel: 'C1', user: 'bob' })).toBe('clerk');
    expect(await agentOf({ surface: 'telegram' })).toBe('echo');
  });

  it('is the one for all when no rule fits, and `assistant` when there is no such either', async () => {
    const echo = { kind: 'echo' } as const;
    const named = await openForThisTest({ agents: { echo, poet: echo, assistant: echo }, routing: { agent: 'poet' } });
    const unnamed = await openForThisTest({ agents: { echo, assistant: echo } });
    expect((await taskOf(await say('hello', { session: 'a' }, named))).body.agent).toBe('poet');
    expect((await taskOf(await say('hello', { session: 'b' }, unnamed))).body.agent).toBe('assistant');
  });
});

describe('a command', () => {
  it('runs while a task runs, and makes none', async () => {
    await start(await say('first', { context: { noInput: true } }));
    for (const command of ['/status', '/queue', '/help', '/new', '/queue steer', '/queue nonsense'])
      expect(await handleMessage(parts, { ...SAID, text: command })).toMatchObject({
        kind: 'command',
        command: command.slice(1).split(' ')[0],
      });
    expect((await readSession(parts, 'acme', 'room')).waitingTotal).toBe(0);
  });

  it('that nobody knows is text for the agent', async () => {
    expect((await taskOf(await say('/deploy now'))).body.input).toBe('/deploy now');
  });

  it('of others is called with what it needs, and listed by /help', async () => {
    const calls: unknown[] = [];
    const run = (call: unknown): Promise<string> => {
      calls.push(call);
      return Promise.resolve('done');
    };
    const schedule = { help: '/schedule does something later', run };
    const more = { ...parts, commands: { schedule } };
    const context = { surface: 'slack', channel: 'C1', user: 'ada', idempotencyKey: 'm1' };
    expect(await say('/Schedule@bot every day', context, more)).toBe('done');
    expect(await say('/Schedule@bot every day', context, more)).toBe('done');
    const expected = { tenant: 'acme', session: 'room', ...context, agent: 'poet', argument: 'every day', answerer: null, reply: null };
    expect(calls).toEqual([expected]);
    const help = (await say('/help', {}, more)).split('\n');
    expect([help[0], help.at(-1)]).toEqual(['/schedule does something later', '/help shows this']);
    expect(await say('/help', {}, { ...parts, commands: { stop: schedule } })).not.toContain('later');
  });

  it('/queue shows the mode and where it comes from', async () => {
    expect(await say('/queue')).toMatch(/^Mode: queue \(the default of webchat\)/);
    expect(await say('/queue steer')).toMatch(/^Mode: steer \(chosen for this session\)/);
    expect(await say('/queue', { surface: 'pager' })).toMatch(/^Mode: steer \(chosen for this session\)/);
    expect(await say('/queue default')).toMatch(/^Mode: queue \(the default of webchat\)/);
    expect(await say('/queue', { surface: 'unheard of' })).toMatch(/^Mode: queue \(the default\)/);
  });

  it('/queue with a word that is no mode lists those that are, and sends nothing', async () => {
    expect(await say('please /queue stear now')).toContain('"stear" is no mode');
    const answer = await say('/queue nonsense now');
    expect(answer).toContain('"nonsense" is no mode');
    expect(answer).toContain('queue, interrupt, collect, steer, latest, reject');
    expect((await readSession(parts, 'acme', 'room')).holder).toBeNull();
  });

  it('/stop withdraws what waits, then stops what runs, and says how many', async () => {
    const running = await say('first', { context: { noInput: true } });
    await start(running);
    const waiting = [await say('second'), await say('third')];
    expect(await say('/stop')).toBe('Withdrew 2 that had not started; stopping the running task.');
    expect(await Promise.all(waiting.map(statusOf))).toEqual(['cancelled', 'cancelled']);
    expect((await taskOf(running)).state.cancel).toMatchObject({ reason: 'stopped by /stop' });
    expect(await say('/stop', { session: 'quiet' })).toBe('Nothing runs and nothing waits.');
  });

  it('/stop lets nothing that waits start in the place of what it withdraws first', async () => {
    const ids = [await say('first'), await say('second'), await say('third')];
    expect(await Promise.all(ids.map(statusOf))).toEqual(['queued', 'pending', 'pending']);
    expect(await say('/stop')).toBe('Withdrew 3 that had not started; nothing ran.');
    const timelines = await Promise.all(ids.map(async (id) => parseTimeline((await taskOf(id)).state.log).map(({ status }) => status)));
    expect(timelines.slice(1)).toEqual([
      ['pending', 'cancelled'],
      ['pending', 'cancelled'],
    ]);
  });

  it('/stop that is sent again under its key does not stop what came after it', async () => {
    await say('/stop', { idempotencyKey: 'update-7' });
    const later = await say('later');
    expect(await say('/stop', { idempotencyKey: 'update-7' })).toBe('Nothing runs and nothing waits.');
    expect(await statusOf(later)).toBe('queued');
  });

  it('that two processes get at once runs in one of them, and both give its answer', async () => {
    const [begun, done] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
    let times = 0;
    const run = (): Promise<string> => {
      times += 1;
      begun.resolve();
      return done.promise;
    };
    const rival = await open(SETTINGS);
    const send = (to: Parts): Promise<string> =>
      say('/draw', { idempotencyKey: 'update-8' }, { ...to, commands: { draw: { help: '/draw', run } } });
    const first = send(parts);
    await begun.promise;
    const second = send(rival);
    await expect(say('other', { idempotencyKey: 'update-8' })).rejects.toMatchObject({ code: 'task.idempotency-conflict' });
    done.resolve('a boat');
    expect([await first, await second, times]).toEqual(['a boat', 'a boat', 1]);
  });

  it('that failed runs when it is sent again', async () => {
    let times = 0;
    const run = (): Promise<string> => {
      times += 1;
      return times === 1 ? Promise.reject(new Error('not now')) : Promise.resolve('a boat');
    };
    const send = (): Promise<string> =>
      say('/draw', { idempotencyKey: 'update-9' }, { ...parts, commands: { draw: { help: '/draw', run } } });
    await expect(send()).rejects.toThrow('not now');
    expect(await send()).toBe('a boat');
  });

  it('and a message do not share a key', async () => {
    await say('/status', { idempotencyKey: 'key-1' });
    await expect(say('hello', { idempotencyKey: 'key-1' })).rejects.toMatchObject({ code: 'task.idempotency-conflict' });
    const running = await say('hello', { idempotencyKey: 'key-2' });
    await expect(say('/stop', { idempotencyKey: 'key-2' })).rejects.toMatchObject({ code: 'task.idempotency-conflict' });
    expect(await statusOf(running)).toBe('queued');
  });

  it('/stop reaches no other session and no other tenant', async () => {
    const others = [await say('a', { session: 'room/2' }), await say('b', { session: 'roo' })];
    const theirs = await handleMessage(parts, { ...SAID, tenant: 'other' });
    await say('/stop');
    expect(await Promise.all(others.map(statusOf))).toEqual(['queued', 'queued']);
    const id = theirs.kind === 'accepted' ? theirs.accepted.id : '';
    expect((await readTask(parts.ledger, 'other', id))?.state.status).toBe('queued');
  });

  it('/new lets the transcript begin now', async () => {
    const before = Date.now();
    await say('/new');
    const { transcriptFrom } = await readChoices(parts.ledger, 'acme', 'room');
    expect(transcriptFrom).toBeGreaterThanOrEqual(before);
    expect(transcriptFrom).toBeLessThanOrEqual(Date.now() + 1);
  });

  it('/status says what runs and what waits, and why', async () => {
    expect(await say('/status')).toContain('Nothing runs.\nNothing waits.\nMode: queue');
    const running = await say('write a poem', { context: { noInput: true } });
    await start(running);
    const waiting = await say('and another');
    const lines = (await say('/status')).split('\n');
    expect(lines[0]).toMatch(/^"write a poem" has run for \d+ s\.$/);
    expect(lines.slice(1, 3)).toEqual(['1 waits:', '1. "and another": behind the one before']);
    expect(lines.join(' ')).not.toMatch(new RegExp(`${running}|${waiting}|\\d{4}-\\d\\d-`));
  });

  it('/status says what the next one waits for outside its session, and about how long', async () => {
    await say('write a poem');
    expect(await say('/status')).toContain('Next is "write a poem": it waits: no worker serves its queue now.\nNothing waits.');
    const { redis, keys, config } = parts;
    const report = workerReportSchema.parse({ host: 'h', pid: 1, skewMs: 0, queues: ['chat', 'tasks'], slots: 2, running: 0 });
    await beat({ redis, keys, settings: config.settings }, 'w1', report);
    await redis.hset(keys.tenant('acme').serviceTimes, 'echo/normal', 60_000);
    expect(await say('/status')).toMatch(/it waits for its turn: it is next\.\n.*\nThe next one should start in about \d+ s\./);
  });

  it('says when it left a text unread', async () => {
    expect(await say('/new write a poem')).toContain('was not sent to the agent');
    expect(await say('/new')).not.toContain('was not sent to the agent');
  });
});
