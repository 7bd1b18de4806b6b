import { beforeEach, describe, expect, it } from 'vitest';
import type { Ledger } from '#shared/ledger/ledger.ts';
import { leaseMember } from '#shared/ledger/claim/leases.ts';
import { gatherInput, InputChannel } from '#shared/execution/attempt/attempt-input.ts';
import { pollInput } from '#shared/execution/leases/signal-listener.ts';
import { RunningAttempt } from '#shared/execution/attempt/running-attempt.ts';
import { TENANT, type Held } from '../../ledger/support/test-ledger.ts';
import { useLedger } from '../../ledger/support/use-ledger.ts';
import { storedState } from '../../ledger/support/stored-states.ts';

const test = await useLedger();
beforeEach(() => test.reset());

const LANE = 'session:alice';

/** An attempt of a task in a lane, as a worker holds it, and its user. */
async function running(lane: string | null = LANE): Promise<{ attempt: RunningAttempt; held: Held }> {
  const held = await test.claimed(await test.accepted(lane === null ? {} : { lane: { name: lane, limit: 1 } }));
  const { tenant, id, token } = held;
  const stored = JSON.stringify(held.state);
  const ref = { tenant, id, token, lane };
  const claimed = { ref, stored, first: held.state, takesInput: true };
  return {
    held,
    attempt: new RunningAttempt({ ...claimed, claimedAt: { redis: 0, monotonic: 0 }, heldUntil: Infinity, clock: { monotonic: () => 0 } }),
  };
}

const channelOf = (attempt: RunningAttempt, ledger: Ledger = test.ledger): InputChannel =>
  new InputChannel({ ledger, attempt, files: { open: () => Promise.resolve([]) }, given: [] });

/** A ledger that counts its scripts, and whose next answers are lost, after the script did its work. */
function counting(lostAnswers = 0): { ledger: Ledger; scripts: string[] } {
  const scripts: string[] = [];
  const run: Ledger['run'] = async (name, keys, args) => {
    scripts.push(name);
    const answer = await test.ledger.run(name, keys, args);
    if (scripts.length <= lostAnswers) throw new Error('Connection is closed.');
    return answer;
  };
  return { ledger: { ...test.ledger, run }, scripts };
}

describe('the input of a running attempt', () => {
  it('reads Redis only after it was notified', async () => {
    const { attempt } = await running();
    const { ledger, scripts } = counting();
    const channel = channelOf(attempt, ledger);
    expect(await Promise.all([channel.take(), channel.take()])).toEqual([[], []]);
    expect(scripts).toEqual([]);
    attempt.notifyInput();
    await attempt.inputArrived;
    expect(await Promise.all([channel.take(), channel.take()])).toEqual([[], []]);
    expect(scripts).toEqual(['take-input']);
  });

  it('reads again when an answer of Redis is lost', async () => {
    const { attempt } = await running();
    const { ledger, scripts } = counting(1);
    attempt.notifyInput();
    expect(await channelOf(attempt, ledger).take()).toEqual([]);
    expect(scripts).toEqual(['take-input', 'take-input']);
  });

  it('hands out a message that the ledger counts as taken although the call got no answer', async () => {
    const { attempt, held } = await running();
    const message = await test.accepted({ input: 'lost on its way' });
    const state = { ...(await test.state(held.id)), inputs: [{ id: message, how: 'steered' }] };
    await test.redis.hset(test.keys.tenant(TENANT).states, held.id, storedState(state));
    const channel = channelOf(attempt);
    attempt.notifyInput();
    expect(await channel.take()).toEqual([{ id: message, text: 'lost on its way', user: null, attachments: [] }]);
    attempt.notifyInput();
    expect(await channel.take()).toEqual([]);
  });

  it('stops an attempt whose task is not its own any more, and rejects', async () => {
    const { attempt, held } = await running();
    await test.endLease(held);
    await test.redis.hset(test.keys.tenant(TENANT).states, held.id, storedState({ ...held.state, token: held.token + 1 }));
    attempt.notifyInput();
    await expect(channelOf(attempt).take()).rejects.toThrow('lease-lost');
    expect(attempt.stopped).toEqual({ kind: 'lease-lost' });
  });

  it('rejects at once for an attempt that was stopped', async () => {
    const { attempt } = await running();
    const { ledger, scripts } = counting();
    attempt.notifyInput();
    attempt.stop({ kind: 'drain' });
    await expect(channelOf(attempt, ledger).take()).rejects.toThrow('drain');
    expect(scripts).toEqual([]);
  });

  it('does not let one call that fails fail the next', async () => {
    const { attempt } = await running();
    let isBroken = true;
    const run: Ledger['run'] = (...call) => (isBroken ? Promise.reject(new Error('a mistake')) : test.ledger.run(...call));
    const channel = channelOf(attempt, { ...test.ledger, run });
    attempt.notifyInput();
    await expect(channel.take()).rejects.toThrow('a mistake');
    isBroken = false;
    attempt.notifyInput();
    expect(await channel.take()).toEqual([]);
  });
});

describe('a poll for input', () => {
  it('notifies the attempts in whose lane a message waits, and no others', async () => {
    const { attempt: meant, held } = await running();
    const { attempt: idle } = await running('session:bob');
    const { attempt: single } = await running(null);
    await test.accepted({ lane: { name: LANE, limit: 1 } });
    await pollInput(test.ledger, [meant, idle, single]);
    expect(leaseMember(held)).toBe(meant.member);
    expect([meant, idle, single].map((attempt) => attempt.takeInputNotice())).toEqual([true, false, false]);
    // Input for a task without a lane waits in one that is made for it.
    await test.redis.zadd(test.keys.tenant(TENANT).laneWait(`task:${single.ref.id}`), 1, 'message');
    await pollInput(test.ledger, [idle, single]);
    expect([idle, single].map((attempt) => attempt.takeInputNotice())).toEqual([false, true]);
  });
});

describe('the prompt of a turn of collected messages', () => {
  it('takes no message once its attempt is stopped', async () => {
    const { attempt, held } = await running();
    const { ledger, scripts } = counting();
    attempt.stop({ kind: 'drain' });
    const state = { ...held.state, collect: { debounceMs: 0, longestWaitMs: 0 } };
    await expect(gatherInput(ledger, { attempt, state, body: { tenant: TENANT, input: 'x' } } as never)).rejects.toMatchObject({
      stop: { kind: 'drain' },
    });
    expect(scripts).toEqual([]);
  });
});
