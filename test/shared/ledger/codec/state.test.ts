import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { cancelTask } from '#shared/ledger/change-task.ts';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { parseKnownState, parseState, stateText } from '#shared/ledger/codec/state.ts';
import { scriptJson } from '#shared/redis/index.ts';
import { runScript } from '#shared/redis/script.ts';
import { parseTimeline, taskRecord } from '#shared/tasks/task-record.ts';
import type { FirstState, TaskState } from '#shared/tasks/task-state.ts';
import { ownScript } from '../support/own-script.ts';
import { DONE, TENANT, type TaskWish } from '../support/test-ledger.ts';
import { useLedger } from '../support/use-ledger.ts';

const SCRIPT = `-- Reads states, and writes them again.
-- KEYS[1] any: not used
-- ARGV[1] body: JSON of what the tasks began with
-- ARGV[2...] per state: one state
--   text: text, the state
-- RETURNS two per state: JSON of it, and its text with a tail
-- include: body-layout
-- include: states
local answers = {}
for position = 2, #ARGV do
  local state = read_state_of(ARGV[position], ARGV[1])
  answers[#answers + 1] = cjson.encode(state)
  answers[#answers + 1] = write_state(state)
end
return answers
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

/** How the scripts read states of a task that began so, and write them. */
async function inScripts(texts: readonly string[], first: FirstState): Promise<{ state: unknown; text: string }[]> {
  const replies = (await runScript(test.redis, script, ['any'], [scriptJson({ first, id: 'x' }), ...texts])) as string[];
  return texts.map((_, at) => ({ state: JSON.parse(replies[at * 2] ?? '') as unknown, text: replies[at * 2 + 1] ?? '' }));
}

/** How 0.1 kept the state of an ordinary task. */
function shortOf01({ status, createdAt, class: capClass, queuedAt, startedAt, worker }: TaskState): string {
  if (status === 'pending') return `w ${createdAt} ${capClass}`;
  return status === 'queued' ? `q ${createdAt} ${queuedAt}` : `r ${createdAt} ${queuedAt} ${startedAt} ${worker}`;
}

/** How the state of an ordinary task may be kept while it lives. */
const FORMS: ((state: TaskState) => string)[] = [stateText, shortOf01, (state) => scriptJson(state)];

/** Whether the ledger keeps a task's state as its head alone. */
const isPlain = async (id: string): Promise<boolean> => (await kept(id)).endsWith(' -');

/** States as they may be: of each field, one of its forms or none. */
const TIME = fc.integer({ min: 0, max: 9_999_999_999_999 });
const COUNT = fc.nat({ max: 1000 });
const NAME = fc.oneof(
  fc.string({ minLength: 1, maxLength: 30 }),
  fc.constantFrom('-', 'my worker', '100%', '%20', 'host-1;2-abcd', 'Zoë', '{"a": 1}'),
);
const STATE = fc.record(
  {
    status: fc.constantFrom('pending', 'queued', 'running', 'completed', 'failed', 'permanently_failed', 'stale'),
    createdAt: TIME,
    class: fc.constantFrom('u1', 'd0'),
    ticket: COUNT,
    token: COUNT,
    attempt: COUNT,
    spent: COUNT,
    agent: NAME,
    source: fc.constantFrom('api', 'chat'),
    log: fc.string(),
    queuedAt: TIME,
    startedAt: TIME,
    completedAt: TIME,
    worker: NAME,
    daemon: NAME,
    usage: fc.record({ inputTokens: COUNT, model: NAME }, { requiredKeys: ['inputTokens'] }),
    finishReason: fc.constantFrom('stop', 'length'),
    cancel: fc.record({ at: TIME, reason: fc.string() }),
    leftOut: fc.array(fc.string(), { minLength: 1, maxLength: 3 }),
    excluded: fc.dictionary(NAME, TIME, { minKeys: 1, maxKeys: 2, noNullPrototype: true }),
  },
  { requiredKeys: ['status', 'createdAt', 'class', 'ticket', 'token', 'attempt', 'spent', 'agent', 'log'] },
);

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

const PLAIN: [whose: string, text: string, more?: Partial<FirstState>][] = [
  ['of a task that waits for its lane', '=pending 1795286497867 u1 0 0 0 - - - - - -'],
  ['of a task that waits for a worker', '=queued 1795286497867 u1 1 0 0 1795286497868 - - - - -'],
  ['of a task that runs', '=running 1795286497867 u1 1 1 1 1795286497868 1795286498725 my%20worker - - -'],
  ['of a task that completed', '=completed 1795286497867 u1 1 1 1 1795286497868 1795286498725 w1 1795286499170 - -'],
  ['of one with its usage', `=completed 1795286497867 u1 1 1 1 1795286497868 1795286498725 w1 1795286499170 ${USAGE} -`],
  ['of a task that had a time', '=queued 1795286497867 u1 1 0 0 1795286497867 - - - - -', { notBefore: 1_795_286_497_000 }],
];

/** How release 0.1 kept the same tasks. */
const OF_0_1 = [
  'w 1795286497867 u1',
  'q 1795286497867 1795286497868',
  'r 1795286497867 1795286497868 1795286498725 w1',
  'c 1795286497867 1795286497868 1795286498725 w1 1795286499170 -',
  `c 1795286497867 1795286497868 1795286498725 w1 1795286499170 ${USAGE}`,
];

describe('the state of a task', () => {
  it.each(PLAIN)('%s reads the same in the scripts and outside', async (_whose, text, more) => {
    const first = { ...FIRST, ...more };
    const [read] = await inScripts([text], first);
    expect(JSON.parse(JSON.stringify(parseState(text, first)))).toEqual(read?.state);
    expect(parseState(read?.text ?? '', null)).toEqual(parseState(text, first));
  });

  it('is read and written alike in the scripts and outside, whatever is in it', async () => {
    const states = fc.sample(STATE, 500).map((each) => JSON.parse(scriptJson(each)) as TaskState);
    const read = await inScripts(states.map(stateText), FIRST);
    expect(read.map(({ state }) => state)).toEqual(states);
    expect(read.map(({ text }) => parseState(text, null))).toEqual(states);
    const [words, tails] = [
      (text: string) => text.split(' ').slice(0, 10),
      (text: string) => JSON.parse(text.split(' ').slice(11).join(' ')) as unknown,
    ];
    expect(read.map(({ text }) => [words(text), tails(text)])).toEqual(states.map(stateText).map((text) => [words(text), tails(text)]));
  });

  it('of release 0.1 is read as what it was, in the scripts and outside', async () => {
    const read = await inScripts(OF_0_1, FIRST);
    for (const [at, text] of OF_0_1.entries()) {
      const today = (PLAIN[at]?.[1] ?? '').replace('my%20worker', 'w1');
      expect(parseState(text, FIRST)).toEqual(parseState(today, FIRST));
      expect(read[at]?.state).toEqual(JSON.parse(JSON.stringify(parseState(today, FIRST))));
    }
    const states = fc.sample(STATE, 100).map((each) => JSON.parse(scriptJson(each)) as TaskState);
    const texts = states.map((state) => scriptJson(state));
    expect((await inScripts(texts, FIRST)).map(({ state }) => state)).toEqual(states);
    expect(texts.map((text) => parseState(text, null))).toEqual(states);
  });

  it('is none that 0.1 knows, so that a process of it that comes back spoils none: its scripts look at the first byte', async () => {
    const states = fc.sample(STATE, 20).map((each) => JSON.parse(scriptJson(each)) as TaskState);
    const texts = [...states.map(stateText), ...(await inScripts([...states.map(stateText), ...OF_0_1], FIRST)).map(({ text }) => text)];
    expect(texts.filter((text) => !/^[=~]/.test(text))).toEqual([]);
  });

  it('of a suspended run is none that 0.2.0 knows, which would take it out of its line: its scripts look for a `=`', async () => {
    const states = fc.sample(STATE, 20).map((each) => Object.assign(each, { status: 'suspended' }) as TaskState);
    const texts = states.map(stateText);
    const read = await inScripts(texts, FIRST);
    expect([...new Set([...texts, ...read.map(({ text }) => text)].map((text) => text.slice(0, 11)))]).toEqual(['~suspended ']);
    expect(read.map(({ text }) => parseState(text, null).status)).toEqual(states.map(() => 'suspended'));
    // As builds before the first release with such runs kept it.
    expect(parseState(`=${texts[0]?.slice(1)}`, null)).toEqual(parseState(texts[0] ?? '', null));
  });

  it('has no getters of its own, which would keep it in memory', () => {
    const own = Object.values(Object.getOwnPropertyDescriptors(parseState('=running 1 u1 1 1 1 2 3 w - - -', FIRST)));
    expect(own.filter((each) => 'get' in each)).toEqual([]);
  });

  it.each(['', '{', '{}', '[]', 'x 1 2', 'c 1 2 3 w', 'c NaN NaN 5 w NaN -', 'q', '=queued 1 u1 1 0 0 2 - - - {'])(
    'is refused as none: %s',
    async (text) => {
      expect(() => parseKnownState(text)).toThrow(/no state of a task|JSON/);
      await expect(inScripts([text], FIRST)).rejects.toThrow(/no state of a task|Expected|concat/);
    },
  );

  it('is none with a status that this release does not know', () => {
    expect(() => parseKnownState('gone 1 u1 1 0 0 2 - - - - -')).toThrow('no state of a task');
  });

  it('is a head alone from the beginning of an ordinary task to its end, in lanes and with times too', async () => {
    for (const wish of [{}, { lane: { name: 'session:s', limit: 1 } }, { sharedLanes: [{ name: 'gpu', limit: 1 }] }, SOON]) {
      const id = await test.accepted(wish);
      const first = await kept(id);
      const held = await test.claimed(id);
      const second = await kept(id);
      await test.settle(held, DONE);
      const texts = [first, second, await kept(id)];
      expect(texts.map((text) => /^=(\w+) .* -$/.exec(text)?.[1])).toEqual(['queued', 'running', 'completed']);
      expect((await test.read(id)).attempts).toMatchObject([{ number: 1, worker: 'w1', status: 'success' }]);
    }
  });

  it('is a head alone for a task in the line of its lane, and for a task that the step of another granted', async () => {
    const lane = { name: 'session:s', limit: 1 };
    const held = await test.claimed(await test.accepted({ lane }));
    const next = await test.accepted({ lane });
    const before = await kept(next);
    expect(await test.state(next)).toMatchObject({ status: 'pending', gate: 'lane', ticket: 0, lane: 'session:s' });
    await test.settle(held, DONE);
    expect([before, await kept(next)].map((text) => /^=(\w+) .* -$/.exec(text)?.[1])).toEqual(['pending', 'queued']);
    expect(test.granted).toMatchObject([
      { task: next, number: 1, queue: 'tasks', agent: 'echo', lane: 'session:s', priority: 5, maxAttempts: 3 },
    ]);
    expect((await test.state(next)).log).toMatch(/^pending@\d{13};queued@\d{13}$/);
  });

  it('has a tail as soon as something else happens', async () => {
    const held = await test.claimed(await test.accepted());
    await cancelTask(test.ledger, held, 'enough');
    expect(await isPlain(held.id)).toBe(false);
    expect(await test.state(held.id)).toMatchObject({ status: 'running', cancel: { reason: 'enough' }, token: 1, worker: 'w1' });
  });

  it('is a head alone with a worker whose name has spaces, too', async () => {
    const id = await test.accepted();
    expect(await claimTask(test.ledger, await test.place(id), 'my worker')).toMatchObject({
      kind: 'claimed',
      state: { worker: 'my worker' },
    });
    expect(await isPlain(id)).toBe(true);
    expect(await test.state(id)).toMatchObject({ worker: 'my worker' });
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
  ])('reads the same in every form from the beginning of %s to its end', async (_what, wish) => {
    const seen: unknown[][] = [];
    for (const form of [null, ...FORMS]) {
      const readings: unknown[] = [];
      seen.push(readings);
      await test.reset();
      const before = wish.lane ? await test.claimed(await test.accepted({ lane: wish.lane })) : null;
      const id = await test.accepted(wish);
      const read = async (): Promise<void> => {
        if (form) await test.redis.hset(test.keys.tenant(TENANT).states, id, form(await test.state(id)));
        readings.push(await readingOf(id));
      };
      await read();
      if (before) await test.settle(before, DONE);
      await read();
      const held = await test.claimed(id);
      await read();
      const usage = { inputTokens: 1, outputTokens: 2, costMicroUsd: 3 };
      await test.settle(held, { kind: 'completed', output: 'done', result: '[1]', usage });
      readings.push(await readingOf(id), await test.events(id), (await test.redis.zrange(test.keys.shard(0).ended, '0', '-1')).length);
      expect(await isPlain(id)).toBe(form === null || form === shortOf01);
    }
    for (const readings of seen) expect(readings).toEqual(seen[0]);
  });
});
