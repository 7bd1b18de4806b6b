import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import { readChores } from '#shared/queue/chores/chore-records.ts';
import { ChoreRunner } from '#shared/queue/chores/chore-runner.ts';
import { handlersFor } from '#shared/queue/chores/chore-handlers.ts';
import type { ChoreHandler, ChoreHandlers, ChoreName } from '#shared/queue/chores/chores.ts';
import { systemClock } from '#shared/time/clock.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';
import { waitFor } from '../../../support/wait-for.ts';

const EVERY_MS = 100;
const HOUR_MS = 3_600_000;

const parts = await useEmptyParts({
  worker: { leaseMs: 500, orphanCheckIntervalMs: EVERY_MS, duePollMs: HOUR_MS },
  throttle: { pumpMs: EVERY_MS },
});
const { redis, keys, settings } = parts;

interface Line {
  level: string;
  event?: string;
  chore?: string;
}

let lines: Line[] = [];
let runners: ChoreRunner[] = [];
const log = createLog({ level: 'info', service: 'test', destination: { write: (line) => void lines.push(JSON.parse(line) as Line) } });

/** What the chores of each process look for. */
const WATCHED = [keys.shard(0).outbox, keys.shard(0).due, keys.shard(0).openCancels];

beforeEach(async () => {
  await Promise.all(WATCHED.map((key) => redis.zadd(key, 0, 'something')));
  lines = [];
  runners = [];
});
afterEach(async () => {
  await Promise.all(runners.map((runner) => runner.stop()));
});

function start(handlers: Partial<Record<ChoreName, ChoreHandler>>, process = 'here'): ChoreRunner {
  const given = new Map(Object.entries(handlers)) as Map<ChoreName, ChoreHandler>;
  const runner = new ChoreRunner({ redis, keys, settings, service: 'worker', handlers: given, process, clock: systemClock, log });
  runners.push(runner);
  runner.start();
  return runner;
}

const reportOf = async (chore: ChoreName): Promise<unknown> =>
  (await readChores({ redis, keys, settings })).find(({ name }) => name === chore);

describe('a chore', () => {
  it('has one round at a time, again and again', async () => {
    let [running, maxAtOnce, rounds] = [0, 0, 0];
    const runner = start({
      'continue-cancels': async () => {
        running += 1;
        maxAtOnce = Math.max(maxAtOnce, running);
        await new Promise((resolve) => setTimeout(resolve, 2 * EVERY_MS));
        [running, rounds] = [running - 1, rounds + 1];
      },
    });
    await waitFor(() => rounds >= 3, { deadlineMs: 5000, what: 'three rounds' });
    runner.wake('continue-cancels');
    runner.wake('continue-cancels');
    await waitFor(() => rounds >= 5, { deadlineMs: 5000, what: 'two more' });
    expect(maxAtOnce).toBe(1);
  });

  it('that fails comes again: the fleet knows of its last round and its last failure, and the log of the first and of the end', async () => {
    let rounds = 0;
    const runner = start({
      'reissue-tickets': () => {
        rounds += 1;
        return rounds <= 3 ? Promise.reject(new Error(`round ${rounds}`)) : Promise.resolve();
      },
    });
    await waitFor(() => rounds >= 5, { deadlineMs: 5000, what: 'five rounds' });
    await runner.stop();
    expect(lines.map(({ level, event, chore }) => [level, event, chore])).toEqual([
      ['warn', 'chore.failed', 'reissue-tickets'],
      ['info', 'chore.recovered', 'reissue-tickets'],
    ]);
    expect(await reportOf('reissue-tickets')).toMatchObject({
      runs: 'process',
      everyMs: EVERY_MS,
      guarantees: expect.stringMatching(/\.$/) as string,
      ran: { at: expect.any(Number) as number, process: 'here' },
      failed: { at: expect.any(Number) as number, error: 'round 3', process: 'here' },
    });
    expect(await reportOf('trim-tasks')).toMatchObject({ ran: null, failed: null });
  });

  it('does not count as failed while Redis is away or refuses, which is one finding and not one for each chore', async () => {
    let rounds = 0;
    const runner = start({
      'reissue-tickets': () => {
        rounds += 1;
        const why = rounds === 1 ? 'Command timed out' : "OOM command not allowed when used memory > 'maxmemory'.";
        return rounds <= 2 ? Promise.reject(new Error(why)) : Promise.resolve();
      },
    });
    await waitFor(() => rounds >= 3, { deadlineMs: 5000, what: 'three rounds' });
    await runner.stop();
    expect(lines).toEqual([]);
    expect(await reportOf('reissue-tickets')).toMatchObject({ ran: { process: 'here' }, failed: null });
  });

  it('has its next round when the last one says so, or when it is woken, also during a round', async () => {
    let rounds = 0;
    const block = Promise.withResolvers<void>();
    const runner = start({
      'promote-due': async () => {
        rounds += 1;
        if (rounds === 2) await block.promise;
        return rounds === 1 ? EVERY_MS : HOUR_MS;
      },
    });
    await waitFor(() => rounds === 2, { deadlineMs: 5000, what: 'the round after the first' });
    runner.wake('promote-due');
    block.resolve();
    await waitFor(() => rounds === 3, { deadlineMs: 5000, what: 'the round that was asked for meanwhile' });
    runner.wake('promote-due', EVERY_MS);
    await waitFor(() => rounds === 4, { deadlineMs: 5000, what: 'the round that was asked for' });
    expect(lines).toEqual([]);
  });

  it('ends at its next step when its process stops', async () => {
    const seen = Promise.withResolvers<AbortSignal>();
    const runner = start({
      'continue-cancels': ({ signal }) => {
        seen.resolve(signal);
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
      },
    });
    const signal = await seen.promise;
    await runner.stop();
    expect(signal.aborted).toBe(true);
  });

  it('of each process has its first round, and then none while nothing is there for it, and counts as done', async () => {
    await redis.del(...WATCHED);
    let rounds = 0;
    const runner = start({ 'continue-cancels': () => Promise.resolve(void (rounds += 1)), 'see-to-waits': () => Promise.resolve() });
    await waitFor(() => rounds === 1, { deadlineMs: 5000, what: 'the first round' });
    await redis.config('RESETSTAT');
    const looksOf = async (): Promise<number> => Number(/cmdstat_exists:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);
    await waitFor(async () => (await looksOf()) >= 5, { deadlineMs: 5000, what: 'further looks' });
    expect(rounds).toBe(1);
    await redis.zadd(keys.shard(0).openCancels, 0, 'something');
    await waitFor(() => rounds > 1, { deadlineMs: 5000, what: 'the round after it came' });
    await runner.stop();
    expect(await reportOf('continue-cancels')).toMatchObject({ ran: { process: 'here' } });
  });

  it('under a lease runs in one process of the fleet, and in another when that has gone', async () => {
    const rounds: string[] = [];
    const startAs = (process: string): ChoreRunner =>
      start({ 'release-providers': () => Promise.resolve(void rounds.push(process)) }, process);
    const one = startAs('one');
    await waitFor(() => rounds.length > 0, { deadlineMs: 5000, what: 'a round' });
    startAs('two');
    const before = rounds.length;
    await waitFor(() => rounds.length > before + 5, { deadlineMs: 5000, what: 'more rounds' });
    await one.stop();
    await waitFor(() => rounds.at(-1) === 'two', { deadlineMs: 5000, what: 'the other to take over' });
    const handedOver = rounds.indexOf('two');
    expect(rounds.slice(handedOver)).not.toContain('one');
  });

  it('under a lease that another process has done lately waits for its time, and is done at once where it is late', async () => {
    const rounds: string[] = [];
    const begin = (process: string): ChoreRunner =>
      start(
        {
          'audit-tickets': () => Promise.resolve(void rounds.push(`${process} audits`)),
          'release-providers': () => Promise.resolve(void rounds.push(process)),
        },
        process,
      );
    const untilDone = async (round: string, times: number): Promise<void> =>
      void (await waitFor(() => rounds.filter((each) => each === round).length >= times, {
        deadlineMs: 5000,
        what: `${times} of ${round}`,
      }));
    const first = begin('first');
    await untilDone('first audits', 1);
    await first.stop();
    const second = begin('second');
    await untilDone('second', 3);
    expect(rounds).not.toContain('second audits');
    await second.stop();
    const late = { at: systemClock.now() - HOUR_MS, tookMs: 1, process: 'second' };
    await redis.hset(keys.fleet.chores, 'audit-tickets/ran', JSON.stringify(late));
    begin('third');
    await untilDone('third audits', 1);
  });

  it('under a lease keeps that during a round that takes longer than the lease lasts', async () => {
    const rounds: string[] = [];
    const block = Promise.withResolvers<void>();
    const startAs = (process: string, round: () => Promise<void>): ChoreRunner =>
      start({ 'release-providers': () => (rounds.push(process), round()) }, process);
    startAs('one', () => block.promise);
    await waitFor(() => rounds.length > 0, { deadlineMs: 5000, what: 'a round' });
    startAs('two', () => Promise.resolve());
    let [left, renewals] = [0, 0];
    const isRenewed = async (): Promise<boolean> => {
      const now = await redis.pttl(keys.fleet.choreLease('worker'));
      if (now > left) renewals += 1;
      left = now;
      return renewals > 4;
    };
    await waitFor(isRenewed, { deadlineMs: 5000, what: 'the lease to be renewed' });
    block.resolve();
    expect(new Set(rounds)).toEqual(new Set(['one']));
  });
});

describe('the list of chores', () => {
  const api: ChoreHandlers<'api'> = {
    'watch-workers': () => Promise.resolve(),
    'watch-daemons': () => Promise.resolve(),
    'run-batches': () => Promise.resolve(),
    'look-for-findings': () => Promise.resolve(),
  };

  it('has a handler for each name, else a service does not start', () => {
    expect([...handlersFor('api', api).keys()].toSorted()).toEqual(['look-for-findings', 'run-batches', 'watch-daemons', 'watch-workers']);
    const { 'watch-daemons': _left, ...rest } = api;
    expect(() => handlersFor('api', rest as typeof api)).toThrow('Chores of the api: no handler for watch-daemons, no definition of none');
    const more = { ...api, 'trim-tasks': () => Promise.resolve() };
    expect(() => handlersFor('api', more)).toThrow('no definition of trim-tasks');
  });
});
