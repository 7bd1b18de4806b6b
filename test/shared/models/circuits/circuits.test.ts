import { describe, expect, it } from 'vitest';
import { Circuits, type CircuitCall, checkCircuit, readCircuit } from '#shared/models/circuits/circuits.ts';
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

async function storedTimes(): Promise<{ lastAt: number; probeAt: number }> {
  return JSON.parse((await parts.redis.hget(parts.keys.tenant('default').circuits, NAME)) ?? '{}');
}

describe('the place of the call that tries a circuit', () => {
  it('is free at once when it is given back, and only by the call that has it', async () => {
    await openAndTry('a');
    expect(await circuits.admit(by('b'))).toMatchObject({ kind: 'wait' });
    await circuits.release(by('b'));
    expect(await circuits.admit(by('b'))).toMatchObject({ kind: 'wait' });
    expect(await checkCircuit(ports, { tenant: 'default', name: NAME, held: 1 })).toBe('none');
    await circuits.release(by('a'));
    await circuits.release(by('a'));
    expect(await readCircuit(ports, 'default', NAME)).toMatchObject({ failures: 1, reason: 'out of order' });
    expect(await checkCircuit(ports, { tenant: 'default', name: NAME, held: 1 })).toBe('one');
    const both = await Promise.all([circuits.admit(by('b')), circuits.admit(by('c'))]);
    expect(both.filter(({ kind }) => kind === 'go')).toHaveLength(1);
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
