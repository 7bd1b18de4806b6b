import { afterEach, describe, expect, it } from 'vitest';
import { acceptNewTask, acceptNewTasks } from '#shared/ledger/accept/accept-task.ts';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import type { Ledger } from '#shared/ledger/ledger.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { measureTenant } from '#shared/ledger/tenants/storage.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { aTask, DONE, limitsOf } from '../support/test-ledger.ts';
import { useLedger } from '../support/use-ledger.ts';

const TENANTS = ['one', 'two', 'three'];
const LANE = { name: 'session:s', limit: 1 };

const test = await useLedger();
afterEach(() => test.reset());

/** The ledger, and which scripts it has run, with how many tenants' calls each. */
function counted(): { ledger: Ledger; calls: string[] } {
  const calls: string[] = [];
  const ledger: Ledger = {
    ...test.ledger,
    run: (name, ...call) => (calls.push(name), test.ledger.run(name, ...call)),
    runTogether: (name, parts, common) => (calls.push(`${name} ${parts.length}`), test.ledger.runTogether(name, parts, common)),
  };
  return { ledger, calls };
}

const accept = async (ledger: Ledger, tenants = TENANTS): Promise<string[]> =>
  await Promise.all(
    tenants.map(async (tenant, at) => {
      const answer = await acceptNewTask(
        ledger,
        aTask({ tenant, input: `for ${tenant}`, ...(at === 0 ? { lane: LANE, mode: 'queue' } : {}) }),
      );
      return answer.kind === 'accepted' ? answer.id : answer.kind;
    }),
  );

const place = (tenant: string, id: string, at: number): { tenant: string; id: string; lane: string | null } => ({
  tenant,
  id,
  lane: at === 0 ? LANE.name : null,
});

describe('tasks of several tenants of a shard', () => {
  it('are accepted, claimed and settled in one call each, and each gets its own answer', async () => {
    const { ledger, calls } = counted();
    const ids = await accept(ledger);
    const claims = await test.claimBest(3, ['tasks'], ledger);
    expect(claims.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    const settled = await Promise.all(claims.map((held) => settleAttempt(ledger, held, DONE)));
    expect(settled).toMatchObject(TENANTS.map(() => ({ status: 'completed' })));
    const tasks = await Promise.all(TENANTS.map((tenant, at) => readTask(test.ledger, tenant, ids[at] ?? '')));
    expect(tasks.map((task) => task?.state.status)).toEqual(TENANTS.map(() => 'completed'));
    expect(calls.filter((call) => !call.startsWith('read-'))).toEqual(['accept-tasks 3', 'claim-tasks', 'settle-attempts 3']);
  });

  it('publish what happened to all of them in one message', async () => {
    const listener = test.connect('listener');
    const messages: string[] = [];
    listener.on('message', (_channel: string, message: string) => messages.push(message));
    await listener.subscribe(test.keys.shard(0).signal);
    const ids = await accept(test.ledger);
    await waitFor(() => messages.length > 0, { deadlineMs: 5000, what: 'a message' });
    listener.disconnect();
    expect(messages.map((message) => message.split('\n').toSorted())).toEqual([
      TENANTS.flatMap((tenant, at) => ['created', 'queued'].map((event) => `${tenant}/${ids[at]}/task.${event}`)).toSorted(),
    ]);
  });

  it('keep the order of each tenant, whatever comes between', async () => {
    test.limitsByTenant.set('two', limitsOf({ running: 1 }));
    const { ledger, calls } = counted();
    const tenants = ['one', 'two', 'one', 'two', 'one', 'two'];
    const answers = await Promise.all(tenants.map((tenant) => acceptNewTask(ledger, aTask({ tenant }))));
    expect(answers.map((answer) => answer.kind === 'accepted' && [answer.status, answer.ahead])).toEqual([
      ['queued', 0],
      ['queued', 0],
      ['queued', 0],
      ['pending', 0],
      ['queued', 0],
      ['pending', 1],
    ]);
    expect(calls).toEqual(['accept-tasks 2']);
  });

  it('do not fail with one whose data is broken', async () => {
    const { ledger } = counted();
    await test.redis.set(test.keys.tenant('two').bodies, 'no hash');
    const answers = await Promise.all(TENANTS.map((tenant) => acceptNewTask(ledger, aTask({ tenant })).catch((error: unknown) => error)));
    expect(answers.map((answer) => (answer instanceof Error ? answer.message : 'accepted'))).toEqual([
      'accepted',
      expect.stringContaining('WRONGTYPE'),
      'accepted',
    ]);
    await test.redis.set(test.keys.tenant('one').states, 'no hash');
    const claims = await Promise.all(['one', 'three'].map((tenant) => claimTask(ledger, place(tenant, 'x', 1), 'w1').catch(String)));
    expect(claims).toEqual([expect.stringContaining('WRONGTYPE'), { kind: 'unknown' }]);
  });

  it('cost few commands each where a tenant has no others', async () => {
    await acceptNewTasks(test.ledger, [aTask({ tenant: 'busy' }), aTask({ tenant: 'busy' })]);
    await test.redis.config('RESETSTAT');
    const answers = await Promise.all(TENANTS.map((tenant) => acceptNewTask(test.ledger, aTask({ tenant }))));
    const calls = (await test.redis.info('commandstats')).matchAll(/^cmdstat_(\w+):calls=(\d+)/gm);
    const counts = new Map([...calls].map(([, name = '', count]) => [name, Number(count)]));
    expect(['hsetnx', 'hset', 'hmget', 'zcard', 'zlexcount'].map((name) => counts.get(name) ?? 0)).toEqual([3, 3, 0, 3, 6]);
    expect(answers.map((answer) => answer.kind === 'accepted' && [answer.ahead, answer.depth])).toEqual(TENANTS.map(() => [0, 1]));
  });

  it('are measured in one call', async () => {
    await accept(test.ledger, ['one', 'three']);
    const { ledger, calls } = counted();
    const bytes = await Promise.all(TENANTS.map((tenant) => measureTenant(ledger, tenant)));
    expect(bytes.map((each) => each > 0)).toEqual([true, false, true]);
    expect(calls).toEqual(['measure-keys']);
  });
});

describe('a tenant with limits on rates and on what waits', () => {
  it('has its caps counted over all tasks of one call', async () => {
    test.limitsByTenant.set('one', limitsOf({ running: 3, runningLow: 1, runningByClass: { user: 2 } }));
    const classes = ['u0', 'u0', 'u1', 'u1', 'p1', 'p1'];
    const answers = await Promise.all(classes.map((taskClass) => acceptNewTask(test.ledger, aTask({ tenant: 'one', class: taskClass }))));
    expect(answers.map((answer) => answer.kind === 'accepted' && answer.status)).toEqual([
      'queued',
      'pending',
      'queued',
      'pending',
      'queued',
      'pending',
    ]);
  });

  it('has its bursts in full, also where a rate is no round number of milliseconds', async () => {
    for (let burst = 2; burst <= 30; burst += 1) {
      test.limitsByTenant.set(`t${burst}`, limitsOf({ rates: { user: { perMinute: burst + 100, burst, perHour: 60_000 } } }));
      const tasks = Array.from({ length: burst }, () => aTask({ tenant: `t${burst}` }));
      const kinds = (await acceptNewTasks(test.ledger, tasks)).map((answer) => 'kind' in answer && answer.kind);
      expect(kinds).toEqual(tasks.map(() => 'accepted'));
    }
  });

  it('keeps no tail of tasks that nothing can hold back', async () => {
    test.limitsByTenant.set('one', limitsOf({ waiting: 5, rates: { user: { perMinute: 60, burst: 2, perHour: 60_000 } } }));
    const answers = await Promise.all(Array.from({ length: 3 }, () => acceptNewTask(test.ledger, aTask({ tenant: 'one' }))));
    expect(answers.map(({ kind }) => kind)).toEqual(['accepted', 'accepted', 'rate']);
    const states = await test.redis.hvals(test.keys.tenant('one').states);
    expect(states.map((state) => /^=(\w+) .* -$/.exec(state)?.[1])).toEqual(['queued', 'queued']);
  });
});
