import { describe, expect, it } from 'vitest';
import { acceptNewTask } from '#shared/ledger/accept/accept-task.ts';
import { cancelTask, expireDeadline, reopenTask } from '#shared/ledger/change-task.ts';
import { expireLease } from '#shared/execution/leases/expire-lease.ts';
import { takeInput } from '#shared/ledger/claim/take-input.ts';
import { promoteDue } from '#shared/ledger/grants/promote-tasks.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import type { AttemptEnd } from '#shared/ledger/settle/attempt-end.ts';
import {
  type Effect,
  EFFECTS,
  isTransition,
  TASK_STATUSES,
  type TaskStatus,
  type TransitionRow,
  TRANSITIONS,
} from '#shared/tasks/transitions.ts';
import { parseTimeline } from '#shared/tasks/task-record.ts';
import { aTask, DONE, FAILURE, limitsOf, retry, TENANT, type Held, type TaskWish } from './support/test-ledger.ts';
import { storedState } from './support/stored-states.ts';
import { useCheckedLedger } from './support/use-ledger.ts';

const LANE = { name: 'session:s', limit: 1 };
const HOUR_MS = 3_600_000;
const inAnHour = (): number => Date.now() + HOUR_MS;
/** A task with all that its end has to clean up. */
const full = (): TaskWish => ({ lane: LANE, deadline: inAnHour(), callbackUrl: 'https://example.com/x' });
const timeout = (delayMs: number | null): AttemptEnd => ({ kind: 'timeout', error: FAILURE, delayMs, usage: null });
const interrupted = (delayMs: number): AttemptEnd => ({ kind: 'interrupted', reason: 'drain', delayMs });

const suspended = (until: number | null, gate: 'sleep' | 'event' = 'sleep'): AttemptEnd => ({
  kind: 'suspended',
  reason: 'it waits',
  wait: {
    hold: { gate, what: 'x' },
    entry: { seq: 2, kind: gate, name: 'x', status: 'waiting', attempt: 1, startedAt: Date.now() },
    until,
    holdLaneMs: HOUR_MS,
  },
});
const HOLD = { gate: 'budget', what: 'b' } as const;
const hold = (delayMs: number | null): AttemptEnd => ({ kind: 'interrupted', reason: 'no money', delayMs, hold: HOLD });

const test = await useCheckedLedger();

/** The effects by what they change: when something appears, and when it goes. */
const CHANGES: Readonly<Record<string, [added: Effect, removed?: Effect]>> = {
  listed: ['listed', 'unlisted'],
  granted: ['granted', 'ungranted'],
  backlog: ['backlog joined', 'backlog left'],
  hold: ['hold joined', 'hold left'],
  held: ['lane taken', 'lane left'],
  line: ['line joined', 'line left'],
  lease: ['lease taken', 'lease removed'],
  tickets: ['ticket added'],
  due: ['due added', 'due removed'],
  deadline: ['deadline added', 'deadline removed'],
  indexed: ['indexed', 'unindexed'],
  notices: ['subscribers notified'],
  attempts: ['attempt stored'],
  output: ['output stored'],
};
const OPPOSITES = new Map<Effect, Effect>();
for (const [added, removed] of Object.values(CHANGES)) {
  if (removed) OPPOSITES.set(added, removed).set(removed, added);
}

interface Snapshot {
  /** How often the task is in each of the places. */
  places: Record<string, number>;
  timeline: TaskStatus[];
  events: string[];
}

const count = (members: readonly string[], pattern: RegExp): number => members.filter((member) => pattern.test(member)).length;

async function snapshot(id: string): Promise<Snapshot> {
  const { redis, keys } = test;
  const tenant = keys.tenant(TENANT);
  const shard = keys.shard(0);
  const all = async (key: string): Promise<string[]> => await redis.zrange(key, '0', '-1');
  const live = await all(tenant.live);
  const member = new RegExp(`^${TENANT}/${id}`);
  const ending = new RegExp(`/${id}$`);
  const task = await readTask(test.ledger, TENANT, id);
  return {
    places: {
      listed: count(live, new RegExp(`^(pending|queued|failed|timeout|suspended|granted=\\w+)/${id}$`)),
      granted: count(live, new RegExp(`^granted=\\w+/${id}$`)),
      backlog: count(live, new RegExp(`^backlog=\\w+/\\d+/${id}$`)),
      hold: count(live, new RegExp(`^hold=[^/]+/\\d+/${id}$`)),
      held: count(await all(tenant.laneHeld(LANE.name)), new RegExp(id)),
      line: count(await all(tenant.laneWait(LANE.name)), new RegExp(id)),
      lease: count(await all(shard.leases), member),
      tickets: count(await all(shard.outbox), new RegExp(`${id}\\.`)),
      due: count(await all(shard.due), member),
      deadline: count(await all(shard.deadlines), member),
      indexed: count(await all(tenant.index), new RegExp(`^status=\\w+/${id}$`)),
      notices: count(await all(shard.ended), ending),
      attempts: count(await redis.hkeys(tenant.attempts), new RegExp(`^${id}:`)),
      output: await redis.hexists(tenant.outputs, id),
    },
    timeline: task ? parseTimeline(task.state.log).map(({ status }) => status) : [],
    events: await test.events(id),
  };
}

function effectsBetween(before: Snapshot, after: Snapshot): Effect[] {
  return Object.entries(CHANGES).flatMap(([place, [added, removed]]) => {
    const difference = (after.places[place] ?? 0) - (before.places[place] ?? 0);
    if (difference > 0) return [added];
    return difference < 0 && removed ? [removed] : [];
  });
}

const seen = { steps: new Set<string>(), effects: new Set<string>() };

/** The rows of the table that a task went along, by its timeline. */
function stepsBetween(before: Snapshot, after: Snapshot): TransitionRow[] {
  const path = ['new' as const, ...after.timeline];
  return path.slice(before.timeline.length + 1).map((to, position) => {
    const from = path[before.timeline.length + position] ?? 'new';
    const row = TRANSITIONS[from][to as TaskStatus];
    if (!row) throw new Error(`The table has no step from ${from} to ${to}`);
    seen.steps.add(`${from} ${to}`);
    return row;
  });
}

const mayDo = ({ always, sometimes }: TransitionRow): Effect[] => [...always, ...sometimes];

/** What has to show of some steps together: an effect that no other of the steps may undo. */
function requiredOf(steps: readonly TransitionRow[]): Effect[] {
  return steps.flatMap((step) =>
    step.always.filter((effect) => {
      const opposite = OPPOSITES.get(effect);
      return opposite === undefined || !steps.some((other) => other !== step && mayDo(other).includes(opposite));
    }),
  );
}

async function holder(wish: TaskWish = { lane: LANE }): Promise<Held> {
  return await test.claimed(await test.accepted(wish));
}
const behind = async (wish: TaskWish): Promise<string> => (await holder(), await test.accepted(wish));
const running = async (wish: TaskWish = full()): Promise<string> => (await holder(wish)).id;
const after = async (verdict: AttemptEnd, wish: TaskWish = full()): Promise<string> => {
  const held = await holder(wish);
  await test.settle(held, verdict);
  return held.id;
};
const lost = async (wish: TaskWish = full()): Promise<string> => {
  const held = await holder(wish);
  await test.endLease(held);
  await expireLease(test.ledger, held);
  return held.id;
};
/** With the cap of the tenant full. */
const capped = async (wish: TaskWish = {}): Promise<string> => {
  test.limits = limitsOf({ running: 1 });
  await holder({});
  return await test.accepted(wish);
};
const late = async (id: string): Promise<string> => (await test.makeDue(id, 'deadline'), id);
const heldOf = async (id: string): Promise<Held> => ({
  ...(await test.place(id)),
  token: (await test.state(id)).token,
  state: await test.state(id),
});
const settleWith = (verdict: AttemptEnd) => async (id: string) => await test.settle(await heldOf(id), verdict);
const loseBy = (blame: 'unknown' | 'cleared' | 'guilty') => async (id: string) => {
  const held = await heldOf(id);
  await test.endLease(held);
  expect(await expireLease(test.ledger, held, { blame })).not.toBe('held');
};
const settleHolder = async (): Promise<void> => {
  const [lease = ''] = await test.redis.zrange(test.keys.shard(0).leases, '0', '-1');
  await settleWith(DONE)(lease.split('/')[1] ?? '');
};
const claim = async (id: string): Promise<unknown> => await test.claim(id);
const cancel = async (id: string): Promise<unknown> => await cancelTask(test.ledger, await test.place(id), 'no');
const expire = async (id: string): Promise<unknown> => await expireDeadline(test.ledger, await test.place(id));
const reopen = async (id: string): Promise<unknown> => await reopenTask(test.ledger, await test.place(id));
const makeDue = async (id: string): Promise<void> => await test.makeDue(id);
const take = async (): Promise<unknown> => {
  const [id = ''] = await test.redis.zrange(test.keys.tenant(TENANT).laneHeld(LANE.name), '0', '0');
  return await takeInput(test.ledger, await heldOf(id), 'steered', 10);
};
const wakeUp = async (id: string): Promise<void> => {
  const state = await test.state(id);
  const { states } = test.keys.tenant(TENANT);
  await test.redis.hset(states, id, storedState({ ...state, notBefore: 1, suspended: { entry: 2, until: 1 } }));
  await promoteDue(test.ledger, TENANT, [id]);
};
const yields = (): TaskWish => ({ ...full(), yields: true });

/** Everything that moves a task, from where it stands. */
const MOVES: [what: string, arrange: () => Promise<string>, act: (id: string) => Promise<unknown>][] = [
  ['the end of the holder, to the next in line', async () => await behind(full()), settleHolder],
  ['the end of another, to the backlog', async () => await capped(full()), settleHolder],
  ['its time', async () => await test.accepted({ ...full(), scheduledFor: inAnHour() }), makeDue],
  ['a cancel in the line', async () => await behind(full()), cancel],
  ['a cancel in the backlog', async () => await capped(full()), cancel],
  ['a cancel before its time', async () => await test.accepted({ ...full(), scheduledFor: inAnHour() }), cancel],
  ['a deadline in the line', async () => await late(await behind(full())), expire],
  ['a deadline in the backlog', async () => await late(await capped(full())), expire],
  [
    'being taken as input',
    async () => (await holder({ lane: LANE, takesInput: true }), await test.accepted({ ...full(), mode: 'steer' })),
    take,
  ],
  ['a claim', async () => await test.accepted(full()), claim],
  ['a claim after its deadline', async () => await late(await test.accepted(full())), claim],
  ['a cancel before its start', async () => await test.accepted(full()), cancel],
  ['a deadline before its start', async () => await late(await test.accepted(full())), expire],
  ['a completion', running, settleWith(DONE)],
  ['a failure with a retry now', running, settleWith(retry(0))],
  ['a failure with a retry later', running, settleWith(retry(60_000))],
  ['a failure with a retry behind others', async () => await running(yields()), settleWith(retry(60_000))],
  ['a last failure', running, settleWith(retry(null))],
  ['a timeout with a retry now', running, settleWith(timeout(0))],
  ['a timeout with a retry later', running, settleWith(timeout(60_000))],
  ['a last timeout', running, settleWith(timeout(null))],
  ['a stop that its worker answered', running, settleWith({ kind: 'cancelled', reason: 'no' })],
  ['an interruption', running, settleWith(interrupted(0))],
  ['an interruption for a while', running, settleWith(interrupted(60_000))],
  ['a hold', running, settleWith(hold(null))],
  ['a hold for a while', running, settleWith(hold(60_000))],
  ['a cancel while it is held', async () => await after(hold(60_000)), cancel],
  ['a deadline while it is held', async () => await late(await after(hold(null))), expire],
  ['a suspend', running, settleWith(suspended(null, 'event'))],
  ['a suspend for a while', async () => await running({ callbackUrl: 'https://example.com/x' }), settleWith(suspended(inAnHour()))],
  ['the time of its suspended run', async () => await after(suspended(inAnHour()), {}), wakeUp],
  ['a cancel while its run is suspended', async () => await after(suspended(null)), cancel],
  ['a deadline while its run is suspended', async () => await late(await after(suspended(null))), expire],
  ['the loss of its process', running, loseBy('unknown')],
  ['the loss of its process by another', running, loseBy('cleared')],
  ['the loss of its process by itself', running, loseBy('guilty')],
  ['the last loss of its process by itself', async () => await running({ ...full(), maxAttempts: 1 }), loseBy('guilty')],
  [
    'the loss of its process under a stop',
    async () => {
      const id = await running();
      await cancel(id);
      return id;
    },
    loseBy('unknown'),
  ],
  ['the time of its retry', async () => await after(retry(60_000)), makeDue],
  ['the time of its retry after a timeout', async () => await after(timeout(60_000)), makeDue],
  [
    'the end of the holder, to a retry in line',
    async () => {
      const id = await after(retry(60_000), yields());
      await holder();
      await test.makeDue(id);
      return id;
    },
    settleHolder,
  ],
  ['a claim of its retry', async () => await after(retry(0)), claim],
  ['a claim of its retry after a timeout', async () => await after(timeout(0)), claim],
  ['a cancel before its retry', async () => await after(retry(60_000)), cancel],
  ['a cancel as a suspect', async () => await lost(), cancel],
  ['a reopened task', async () => await after(retry(null)), reopen],
  [
    'a reopened task behind another',
    async () => {
      const id = await after(retry(null));
      await holder();
      return id;
    },
    reopen,
  ],
  [
    'a reopened task with its cap full',
    async () => {
      const id = await after(retry(null));
      await capped();
      return id;
    },
    reopen,
  ],
];

const ARRIVALS: [where: string, wish: () => TaskWish, arrange?: () => Promise<unknown>][] = [
  ['at once', () => ({})],
  ['to a free lane', full],
  ['to the line', full, holder],
  ['to the backlog', () => ({}), capped],
  ['to the backlog with its lane', full, capped],
  ['for later', () => ({ ...full(), scheduledFor: inAnHour() })],
  ['and is skipped', () => ({ callbackUrl: 'https://example.com/x', skip: 'paused' })],
  ['and is rejected', () => ({ ...full(), mode: 'reject' }), holder],
];

/** What a move did besides the rows of the table that it went along, or left out of them. */
async function deviations(id: string, act: () => Promise<unknown>): Promise<string[]> {
  const before = await snapshot(id);
  await act();
  const now = await snapshot(id);
  const steps = stepsBetween(before, now);
  const effects = effectsBetween(before, now);
  for (const effect of effects) seen.effects.add(effect);
  const announced = steps.map(({ event }) => event).filter((event) => event !== '');
  // A grant is announced also where the status stays queued.
  const emitted = now.events.slice(before.events.length).filter((event) => event !== 'task.queued' || announced.includes(event));
  return [
    ...(steps.length === 0 ? ['it did not move'] : []),
    ...effects.filter((effect) => !steps.flatMap(mayDo).includes(effect)).map((effect) => `${effect}: not in the table`),
    ...requiredOf(steps)
      .filter((effect) => !effects.includes(effect))
      .map((effect) => `${effect}: in the table only`),
    ...emitted.filter((event) => !announced.includes(event)).map((event) => `${event}: not in the table`),
    ...(emitted.at(-1) === announced.at(-1) ? [] : [`${announced.at(-1)}: not emitted`]),
  ];
}

describe('the table of transitions says what the scripts do', () => {
  it.each(ARRIVALS)('to a task that comes %s', async (_where, wish, arrange) => {
    await arrange?.();
    const task = aTask(wish());
    expect(await deviations(task.body.id, async () => await acceptNewTask(test.ledger, task))).toEqual([]);
  });

  it.each(MOVES)('to a task by %s', async (_what, arrange, act) => {
    const id = await arrange();
    expect(await deviations(id, async () => await act(id))).toEqual([]);
  });

  it('and these are all of its rows and effects', () => {
    const pairs = (['new', ...TASK_STATUSES] as const).flatMap((from) =>
      TASK_STATUSES.filter((to) => isTransition(from, to)).map((to) => `${from} ${to}`),
    );
    // A claim never stops between the two.
    const untouched = new Set(['scheduled queued', 'scheduled cancelled']);
    expect(pairs.filter((pair) => !seen.steps.has(pair) && !untouched.has(pair))).toEqual([]);
    expect(EFFECTS.filter((effect) => !seen.effects.has(effect))).toEqual([]);
  });
});
