import { describe, expect, it } from 'vitest';
import type { AcceptAnswer } from '#shared/ledger/accept/accept-answer.ts';
import { acceptNewTask, acceptNewTasks, offerMessage } from '#shared/ledger/accept/accept-task.ts';
import type { NewTask } from '#shared/ledger/accept/new-task.ts';
import type { Ledger } from '#shared/ledger/ledger.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { aTask, limitsOf, type TaskWish } from '../support/test-ledger.ts';
import { useLedger } from '../support/use-ledger.ts';

const test = await useLedger();
const LANE = { name: 'session:s', limit: 1 };
const keys = test.keys.tenant('bad');

/** What one caller sends, or has; `answer`: the kind of its own, or the text of its error. */
interface Form {
  wish?: TaskWish;
  /** Of its task, what no wish can say. */
  task?: Partial<NewTask>;
  before?: () => Promise<unknown>;
  ledger?: (ledger: Ledger) => Ledger;
  target?: string;
  answer: string | RegExp;
}

const deep = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
const accepted = async (wish: TaskWish): Promise<AcceptAnswer> => await acceptNewTask(test.ledger, aTask({ tenant: 'bad', ...wish }));
const limited =
  (limits: Parameters<typeof limitsOf>[0]) =>
  (ledger: Ledger): Ledger => ({ ...ledger, limitsOf: (tenant) => (tenant === 'bad' ? limitsOf(limits) : null) });
const throwing =
  (name: 'limitsOf' | 'costOf') =>
  (ledger: Ledger): Ledger => ({
    ...ledger,
    [name]: (tenant: string) => {
      if (tenant === 'bad') throw new Error('this cannot be read');
      return null;
    },
  });

const FORMS: Record<string, Form> = {
  'uses its key for another body': { wish: { key: 'k', digest: 'other' }, before: () => accepted({ key: 'k' }), answer: 'conflict' },
  'comes again': { wish: { key: 'k' }, before: () => accepted({ key: 'k' }), answer: 'duplicate' },
  'has used up its rate': {
    ledger: limited({ rates: { user: { perMinute: 1, perHour: 60, burst: 1 } } }),
    before: async () =>
      await acceptNewTask(limited({ rates: { user: { perMinute: 1, perHour: 60, burst: 1 } } })(test.ledger), aTask({ tenant: 'bad' })),
    answer: 'rate',
  },
  'may have no more waiting': { ledger: limited({ running: 1, waiting: 0 }), before: () => accepted({}), answer: 'waiting' },
  'finds its caps full, and its data broken': {
    ledger: limited({ running: 1 }),
    before: async () => [await accepted({}), await test.redis.del(keys.bodies), await test.redis.set(keys.bodies, 'no hash')],
    answer: /WRONGTYPE/,
  },
  'is of a tenant that is disabled': {
    before: () => test.redis.hset(test.keys.shard(0).tenantStates, 'bad', 'disabled'),
    answer: 'closed',
  },
  'has a broken lane': { wish: { lane: LANE }, before: () => test.redis.set(keys.laneHeld(LANE.name), 'no set'), answer: /WRONGTYPE/ },
  'counts equal inputs by a broken record': {
    task: { repeats: { digest: 'a', warn: 1, hold: 1, windowMs: 1000, maxHeld: 1 } },
    before: () => test.redis.set(keys.repeats('api', 'echo'), '{'),
    answer: /Expected/,
  },
  'counts equal inputs by a rule that is none': {
    task: { repeats: { digest: 'a b', warn: Number.NaN, hold: 1, windowMs: 1000, maxHeld: 1 } },
    answer: /./,
  },
  'has a rate that is none': {
    ledger: limited({ rates: { user: { perMinute: Number.MIN_VALUE, perHour: Number.MIN_VALUE } } }),
    answer: /./,
  },
  'is of a tenant whose limits cannot be read': { ledger: throwing('limitsOf'), answer: /cannot be read/ },
  'is of an agent whose cost cannot be read': { ledger: throwing('costOf'), answer: /cannot be read/ },
  'has a body that is no JSON': { wish: { metadata: { big: 1n } }, answer: /BigInt/ },
  'has as much input as may be': { wish: { input: 'x'.repeat(262_144) }, answer: 'accepted' },
  'has a context as deep as may be': { wish: { context: { deep: deep(99) } }, answer: 'accepted' },
  'has a context that is deeper than Redis reads': { wish: { context: { deep: deep(1500) } }, answer: 'accepted' },
  'has a context that is deeper than can be written': { wish: { context: { deep: deep(9000) } }, answer: /call stack/ },
  'looks like the layout of a body': { wish: { input: '","input":"', user: '{"first":,"id":"' }, answer: 'accepted' },
  'holds what texts end with elsewhere': { wish: { input: '\0\n\r\u2028', correlationId: '\0/\n', key: '\n' }, answer: 'accepted' },
  'holds half of a character': { wish: { input: '\ud83d', user: '\ud83d', correlationId: '\udc00' }, answer: 'accepted' },
  'has names of ours': { wish: { agent: 'constructor', correlationId: '__proto__' }, answer: 'accepted' },
  'is input for what does not run': { wish: { lane: LANE, mode: 'steer' }, target: 'nobody', answer: 'refused' },
  'finds the script forgotten': { before: () => test.redis.script('FLUSH'), answer: 'accepted' },
};

const kindOf = (answer: AcceptAnswer | Error): string => (answer instanceof Error ? answer.message : answer.kind);

/** Sends a call, and another like it, between those of two other tenants, all in one turn. Returns the kinds of all. */
async function sendAmongOthers({
  wish,
  task,
  ledger = (each) => each,
  target,
}: Form): Promise<{ own: string; others: string[]; ids: string[] }> {
  const shared = ledger(test.ledger);
  const [bad, again] = [0, 1].map(() => Object.assign(aTask({ tenant: 'bad', ...wish }), task));
  const mates = ['one', 'two', 'one'].map((tenant) => aTask({ tenant }));
  const send = async (each: NewTask): Promise<AcceptAnswer | Error> =>
    await (each.body.tenant === 'bad' && target !== undefined ? offerMessage(shared, each, target) : acceptNewTask(shared, each)).catch(
      (error: unknown) => error as Error,
    );
  const [first, second, third] = mates;
  const [own, , ...others] = await Promise.all([bad, again, first, second, third].map(async (each) => await send(each as NewTask)));
  return { own: kindOf(own as Error), others: others.map(kindOf), ids: mates.map(({ body }) => body.id) };
}

describe('what one caller sends stays its own', () => {
  it.each(Object.entries(FORMS))('when it %s', async (_what, form) => {
    await test.reset();
    await form.before?.();
    const { own, others, ids } = await sendAmongOthers(form);
    expect(others).toEqual(['accepted', 'accepted', 'accepted']);
    expect(own).toMatch(form.answer);
    const tasks = await Promise.all(ids.map((id, at) => readTask(test.ledger, at === 1 ? 'two' : 'one', id)));
    expect(tasks.map((task) => task?.state.status)).toEqual(['queued', 'queued', 'queued']);
  });

  it.each<[string, Form]>([
    [
      'fails in the script',
      { wish: { lane: LANE }, before: () => test.redis.set(keys.laneHeld(LANE.name), 'no set'), answer: /WRONGTYPE/ },
    ],
    ['cannot be sent', { wish: { metadata: { big: 1n } }, answer: /BigInt/ }],
    ['comes too often', { task: { repeats: { digest: 'a', warn: 0, hold: 1, windowMs: 60_000, maxHeld: 0 } }, answer: 'accepted' }],
  ])('also among those of its own tenant, in one bulk, when it %s', async (_what, { wish, task, before, answer }) => {
    await test.reset();
    await before?.();
    const tasks = [aTask({ tenant: 'bad' }), { ...aTask({ tenant: 'bad', ...wish }), ...task }, aTask({ tenant: 'bad' })];
    const kinds = (await acceptNewTasks(test.ledger, tasks)).map(kindOf);
    expect(kinds).toEqual(['accepted', expect.stringMatching(answer), 'accepted']);
  });
});
