import { beforeEach, describe, expect, it } from 'vitest';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { isShort, parseShort, parseState } from '#shared/ledger/codec/state.ts';
import { runScript } from '#shared/redis/script.ts';
import { parseTimeline } from '#shared/tasks/task-record.ts';
import { taskRecord } from '#shared/tasks/task-record.ts';
import type { FirstState } from '#shared/tasks/task-state.ts';
import { ownScript } from '../support/own-script.ts';
import { DONE, TENANT, type TaskWish } from '../support/test-ledger.ts';
import { useLedger } from '../support/use-ledger.ts';

const SCRIPT = `-- Expands a state, as every script reads it.
-- KEYS[1] any: not used
-- ARGV[1] text: a short state
-- ARGV[2] body: JSON of what its task began with
-- RETURNS JSON
-- include: body-layout
-- include: states
return cjson.encode(expand(ARGV[1], ARGV[2]))
`;

const test = await useLedger();
const script = await ownScript(SCRIPT);
beforeEach(() => test.reset());

const FIRST: FirstState = {
  class: 'u1',
  agent: 'echo',
  source: 'chat',
  queue: 'chat',
  priority: 5,
  lane: 'session:s',
  laneLimit: 1,
  order: '1700000000123456789',
  maxAttempts: 3,
  timeoutMs: 1000,
  takesInput: true,
  tell: ['reply', 'callback'],
};
const USAGE = '{"inputTokens":1,"outputTokens":20,"costMicroUsd":0}';

/** How the ledger keeps a task's state. */
const kept = async (id: string): Promise<string> => (await test.redis.hget(test.keys.tenant(TENANT).states, id)) ?? '';

/** Keeps a task's state as JSON from here on. */
async function inFull(id: string): Promise<void> {
  const { states, bodies } = test.keys.tenant(TENANT);
  const body = (await test.redis.hget(bodies, id)) ?? '';
  const json = (await runScript(test.redis, script, ['any'], [await kept(id), body])) as string;
  await test.redis.hset(states, id, json);
}

/** All that readers see of a task but when and under which id. */
async function readingOf(id: string): Promise<unknown> {
  const task = await test.read(id);
  const text = JSON.stringify([taskRecord(task), task.state, task.attempts, parseTimeline(task.state.log)]);
  return JSON.parse(
    text
      .replaceAll(id, 'ID')
      .replaceAll(/\d{13}|\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'WHEN')
      .replaceAll(/:WHEN\b/g, ':0'),
  ) as unknown;
}

const SOON = { deadline: Date.now() + 3_600_000, sla: Date.now() + 1_800_000, slaLeadMs: 3_600_000 };

describe('a short state', () => {
  it.each<[whose: string, text: string, more?: Partial<FirstState>]>([
    ['of a task that waits for its lane', 'w 1795286497867 u1'],
    ['of a task that waits for a worker', 'q 1795286497867 1795286497868'],
    ['of a task that runs', 'r 1795286497867 1795286497868 1795286498725 host-1;2-abcd'],
    ['of a task that completed', 'c 1795286497867 1795286497868 1795286498725 host-12-abcd 1795286499170 -'],
    ['of a task that completed, with its usage', `c 1795286497867 1795286497868 1795286498725 host-12-abcd 1795286499170 ${USAGE}`],
    ['of a task that had a time', 'q 1795286497867 1795286497867', { notBefore: 1795286497000 }],
  ])('%s reads the same in the scripts and outside', async (_whose, text, more) => {
    const first = { ...FIRST, ...more };
    const json = (await runScript(test.redis, script, ['any'], [text, JSON.stringify({ first, id: 'x' })])) as string;
    expect(JSON.parse(JSON.stringify(parseState(text, first)))).toEqual(JSON.parse(json));
  });

  it('has no getters of its own, which would keep it in memory', () => {
    const own = Object.values(Object.getOwnPropertyDescriptors(parseState('r 1 2 3 w', FIRST)));
    expect(own.filter((each) => 'get' in each)).toEqual([]);
  });

  it('is refused when it is none', () => {
    expect(() => parseShort('x 1 2')).toThrow('no state of a task');
    expect(() => parseShort('c 1 2 3 w')).toThrow('no state of a task');
  });

  it('is what an ordinary task has from its beginning to its end, in lanes and with times too', async () => {
    for (const wish of [{}, { lane: { name: 'session:s', limit: 1 } }, { sharedLanes: [{ name: 'gpu', limit: 1 }] }, SOON]) {
      const id = await test.accepted(wish);
      const first = await kept(id);
      const held = await test.claimed(id);
      const second = await kept(id);
      await test.settle(held, DONE);
      expect([first, second, await kept(id)].map((text) => text[0])).toEqual(['q', 'r', 'c']);
      expect((await test.read(id)).attempts).toMatchObject([{ number: 1, worker: 'w1', status: 'success' }]);
    }
  });

  it('is that of a task in the line of its lane, and of a task that the step of another granted', async () => {
    const lane = { name: 'session:s', limit: 1 };
    const held = await test.claimed(await test.accepted({ lane }));
    const next = await test.accepted({ lane });
    const before = await kept(next);
    expect(await test.state(next)).toMatchObject({ status: 'pending', gate: 'lane', ticket: 0, lane: 'session:s' });
    await test.settle(held, DONE);
    expect([before, await kept(next)].map((text) => text[0])).toEqual(['w', 'q']);
    expect(test.granted).toMatchObject([
      { task: next, number: 1, queue: 'tasks', agent: 'echo', lane: 'session:s', priority: 5, maxAttempts: 3 },
    ]);
    expect((await test.state(next)).log).toMatch(/^pending@\d{13};queued@\d{13}$/);
  });

  it('is given up for JSON as soon as something else happens', async () => {
    const held = await test.claimed(await test.accepted());
    await cancelTask(test.ledger, held, 'enough');
    expect(isShort(await kept(held.id))).toBe(false);
    expect(await test.state(held.id)).toMatchObject({ status: 'running', cancel: { reason: 'enough' }, token: 1, worker: 'w1' });
  });

  it('is not made of a worker whose name would not fit into it', async () => {
    const id = await test.accepted();
    expect(await claimTask(test.ledger, await test.place(id), 'my worker')).toMatchObject({
      kind: 'claimed',
      state: { worker: 'my worker' },
    });
    expect(isShort(await kept(id))).toBe(false);
  });

  const inLane = { lane: { name: 'session:s', limit: 1 } };
  it.each<[what: string, wish: TaskWish]>([
    ['a plain task', {}],
    ['one in a lane', inLane],
    ['a message', { ...inLane, mode: 'steer', takesInput: true, user: 'ann' }],
    ['one with subscribers', { callbackUrl: 'https://example.com/x', scheduleId: 'daily', source: 'schedule' }],
    ['one that had a time', { scheduledFor: 1_700_000_000_000 }],
    ['one with a deadline and an sla', SOON],
    ['one with a deadline and an sla in a lane', { ...inLane, ...SOON }],
    [
      'one in shared lanes',
      {
        sharedLanes: [
          { name: 'gpu', limit: 2 },
          { name: 'agent:echo', limit: 2 },
        ],
      },
    ],
  ])('reads like JSON from the beginning of %s to its end', async (_what, wish) => {
    const seen: unknown[][] = [[], []];
    for (const [form, readings] of seen.entries()) {
      await test.reset();
      const before = wish.lane ? await test.claimed(await test.accepted({ lane: wish.lane })) : null;
      const id = await test.accepted(wish);
      if (form === 1) await inFull(id);
      readings.push(await readingOf(id));
      if (before) await test.settle(before, DONE);
      readings.push(await readingOf(id));
      const held = await test.claimed(id);
      readings.push(await readingOf(id));
      await test.settle(held, {
        kind: 'completed',
        output: 'done',
        result: '[1]',
        usage: { inputTokens: 1, outputTokens: 2, costMicroUsd: 3 },
      });
      readings.push(await readingOf(id), isShort(await kept(id)) === (form === 0));
      readings.push(await test.events(id), (await test.redis.zrange(test.keys.shard(0).ended, '0', '-1')).length);
    }
    expect(seen[0]).toEqual(seen[1]);
  });
});
