import { describe, expect, it } from 'vitest';
import { Circuits, type CircuitCall, checkCircuit, readCircuit } from '#shared/models/circuits/circuits.ts';
import { releaseCircuits } from '#shared/models/circuits/release-circuits.ts';
import { holdTask } from '#shared/ledger/grants/hold-task.ts';
import { countHeld } from '#shared/ledger/grants/release-held.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { redisNow } from '#shared/redis/replies.ts';
import { useEmptyParts } from '../../../support/use-parts.ts';
import { waitFor } from '../../../support/wait-for.ts';

const parts = await useEmptyParts({ circuits: { failures: 1, openMs: 10, probeMs: 60_000 } });
const ports = { redis: parts.redis, keys: parts.keys, settings: parts.config.settings, log: parts.log };
const circuits = new Circuits(ports);
const by = (caller: string): CircuitCall => ({ tenant: 'default', agent: 'asks', endpoint: 'http://e', caller });
const NAME = 'asks http://e';

/** Opens the circuit, and lets this attempt try it. */
async function openAndTry(caller: string): Promise<void> {
  await circuits.report(by('first'), 'out of order');
  await tryIt(caller);
}

async function tryIt(caller: string): Promise<void> {
  const isTried = async (): Promise<boolean> => {
    const answer = await circuits.admit(by(caller));
    return answer.kind === 'go' && answer.isProbe;
  };
  await waitFor(isTried, { deadlineMs: 5000, what: 'the circuit to let a call try' });
}

const check = async (held: number): Promise<'all' | 'one' | 'none'> => await checkCircuit(ports, { tenant: 'default', name: NAME, held });

async function storedTimes(): Promise<{ lastAt: number; probeAt: number }> {
  return JSON.parse((await parts.redis.hget(parts.keys.tenant('default').circuits, NAME)) ?? '{}');
}

describe('the place of the call that tries a circuit', () => {
  it('is free at once when it is given back, and only by the call that has it', async () => {
    await openAndTry('a');
    expect(await circuits.admit(by('b'))).toMatchObject({ kind: 'wait' });
    await circuits.release(by('b'));
    expect(await circuits.admit(by('b'))).toMatchObject({ kind: 'wait' });
    expect(await check(1)).toBe('none');
    await circuits.release(by('a'));
    await circuits.release(by('a'));
    expect(await readCircuit(ports, 'default', NAME)).toMatchObject({ failures: 1, reason: 'out of order' });
    expect(await check(1)).toBe('one');
    const both = await Promise.all([circuits.admit(by('b')), circuits.admit(by('c'))]);
    expect(both.filter(({ kind }) => kind === 'go')).toHaveLength(1);
  });

  it('is also that of the further calls of its attempt', async () => {
    await openAndTry('a');
    expect(await circuits.admit(by('a'))).toMatchObject({ kind: 'go', isProbe: true });
  });

  it('is nothing of a circuit that is not there', async () => {
    await circuits.release(by('a'));
    expect(await readCircuit(ports, 'default', NAME)).toBeNull();
  });
});

describe('an open circuit', () => {
  const bounded = new Circuits({ ...ports, settings: { ...ports.settings, circuits: { ...ports.settings.circuits, maxOpenMs: 30 } } });
  const failedTrial = async (caller: string): Promise<number> => {
    await tryIt(caller);
    await bounded.report(by(caller), 'out of order');
    const { lastAt, probeAt } = await storedTimes();
    return probeAt - lastAt;
  };

  it('is tried after twice the time when a trial failed, up to a bound', async () => {
    await bounded.report(by('first'), 'out of order');
    expect(await failedTrial('a')).toBe(20);
    expect(await failedTrial('b')).toBe(30);
    expect(await failedTrial('c')).toBe(30);
  });

  it('is not open for longer by calls that began before it opened', async () => {
    await openAndTry('a');
    const { probeAt } = await storedTimes();
    await bounded.report(by('early'), 'out of order');
    expect(await storedTimes()).toMatchObject({ probeAt, failures: 2, probe: 'a' });
  });
});

describe('the tasks that a circuit holds', () => {
  const { circuitsDue } = parts.keys.shard(0);
  const dueAt = async (): Promise<number | null> => {
    const score = await parts.redis.zscore(circuitsDue, `default/${NAME}`);
    return score === null ? null : Number(score);
  };

  it('are released one by one, with the time of a trial between them', async () => {
    await openAndTry('a');
    await circuits.release(by('a'));
    expect(await dueAt()).toBeLessThanOrEqual(await redisNow(parts.redis));
    const before = await redisNow(parts.redis);
    expect(await check(2)).toBe('one');
    expect(await dueAt()).toBeGreaterThanOrEqual(before + 60_000);
  });

  it('are not looked for all the time while there are none', async () => {
    await openAndTry('a');
    await circuits.release(by('a'));
    const before = await redisNow(parts.redis);
    expect(await check(0)).toBe('none');
    expect(await dueAt()).toBeGreaterThanOrEqual(before + 60_000);
  });

  it('are released also when they were held only after it closed', async () => {
    await openAndTry('a');
    await circuits.report(by('a'), null);
    expect(await check(0)).toBe('none');
    expect(await dueAt()).not.toBeNull();
    expect(await check(1)).toBe('all');
  });

  it('are one of each in a round of the chore, while it is open', async () => {
    await openAndTry('a');
    await circuits.release(by('a'));
    const hold = { gate: 'circuit', what: NAME } as const;
    for (let task = 0; task < 3; task += 1) {
      const { id } = await acceptTask(parts, { tenant: 'default', agent: 'echo', input: 'hello' });
      await holdTask(parts.ledger, { tenant: 'default', id, hold, until: null });
    }
    await releaseCircuits(parts.ledger);
    expect(await countHeld(parts.ledger, 'default', hold)).toBe(2);
  });
});

describe('the record of a circuit', () => {
  it('does not last for longer with each answer once it is closed', async () => {
    await circuits.report(by('a'), 'out of order');
    await circuits.report(by('a'), null);
    await parts.redis.zadd(parts.keys.shard(0).circuitsDue, 5, `default/${NAME}`);
    await circuits.report(by('b'), null);
    expect(await parts.redis.zscore(parts.keys.shard(0).circuitsDue, `default/${NAME}`)).toBe('5');
  });

  it('is made for so many of a tenant, and goes on for those that have one', async () => {
    const settings = { ...ports.settings, circuits: { ...ports.settings.circuits, failures: 5, maxRecords: 1 } };
    const few = new Circuits({ ...ports, settings });
    await few.report(by('a'), 'out of order');
    await few.report({ ...by('a'), endpoint: 'http://f' }, 'out of order');
    await few.report(by('a'), 'out of order');
    expect(await readCircuit(ports, 'default', NAME)).toMatchObject({ failures: 2 });
    expect(await readCircuit(ports, 'default', 'asks http://f')).toBeNull();
  });
});
