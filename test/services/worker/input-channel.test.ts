import { beforeEach, describe, expect, it } from 'vitest';
import type { Ledger } from '#shared/ledger/ledger.ts';
import { leaseMember } from '#shared/ledger/claim/leases.ts';
import { InputChannel } from '../../../services/worker/input-channel.ts';
import { lookForInput } from '../../../services/worker/look-for-input.ts';
import { RunningAttempt } from '../../../services/worker/running-attempt.ts';
import { TENANT, type Held } from '../../shared/ledger/test-ledger.ts';
import { useLedger } from '../../shared/ledger/use-ledger.ts';

const book = await useLedger();
beforeEach(() => book.reset());

const LANE = 'session:alice';

/** An attempt of a task in a lane, as a worker holds it, and whose it is. */
async function running(lane: string | null = LANE): Promise<{ attempt: RunningAttempt; held: Held }> {
  const held = await book.claimed(await book.accepted(lane === null ? {} : { lane: { name: lane, limit: 1 } }));
  const { tenant, id, token } = held;
  const stored = JSON.stringify(held.state);
  const ref = { tenant, id, token, lane };
  const claimed = { ref, stored, first: held.state, takesInput: true };
  return {
    held,
    attempt: new RunningAttempt({ ...claimed, claimedAt: { redis: 0, monotonic: 0 }, heldUntil: Infinity, clock: { monotonic: () => 0 } }),
  };
}

const channelOf = (attempt: RunningAttempt, ledger: Ledger = book.ledger): InputChannel => new InputChannel({ ledger, attempt, given: [] });

/** A ledger that counts its scripts, and whose next answers are lost, after the script did its work. */
function counting(lostAnswers = 0): { ledger: Ledger; scripts: string[] } {
  const scripts: string[] = [];
  const run: Ledger['run'] = async (name, keys, args) => {
    scripts.push(name);
    const answer = await book.ledger.run(name, keys, args);
    if (scripts.length <= lostAnswers) throw new Error('Connection is closed.');
    return answer;
  };
  return { ledger: { ...book.ledger, run }, scripts };
}

describe('the input of a running attempt', () => {
  it('asks Redis only after it was told of something', async () => {
    const { attempt } = await running();
    const { ledger, scripts } = counting();
    const channel = channelOf(attempt, ledger);
    expect(await Promise.all([channel.take(), channel.take()])).toEqual([[], []]);
    expect(scripts).toEqual([]);
    attempt.tellOfInput();
    await attempt.inputArrived;
    expect(await Promise.all([channel.take(), channel.take()])).toEqual([[], []]);
    expect(scripts).toEqual(['take-input']);
  });

  it('asks again when an answer of Redis is lost', async () => {
    const { attempt } = await running();
    const { ledger, scripts } = counting(1);
    attempt.tellOfInput();
    expect(await channelOf(attempt, ledger).take()).toEqual([]);
    expect(scripts).toEqual(['take-input', 'take-input']);
  });

  it('hands out what the ledger counts as taken although nobody was told', async () => {
    const { attempt, held } = await running();
    const message = await book.accepted({ input: 'lost on its way' });
    const state = { ...(await book.state(held.id)), inputs: [{ id: message, how: 'steered' }] };
    await book.redis.hset(book.keys.tenant(TENANT).states, held.id, JSON.stringify(state));
    const channel = channelOf(attempt);
    attempt.tellOfInput();
    expect(await channel.take()).toEqual([{ id: message, text: 'lost on its way', user: null }]);
    attempt.tellOfInput();
    expect(await channel.take()).toEqual([]);
  });

  it('stops an attempt whose task is not its own any more, and rejects', async () => {
    const { attempt, held } = await running();
    await book.endLease(held);
    await book.redis.hset(book.keys.tenant(TENANT).states, held.id, JSON.stringify({ ...held.state, token: held.token + 1 }));
    attempt.tellOfInput();
    await expect(channelOf(attempt).take()).rejects.toThrow('lease-lost');
    expect(attempt.stopped).toEqual({ kind: 'lease-lost' });
  });

  it('rejects at once for an attempt that was stopped', async () => {
    const { attempt } = await running();
    const { ledger, scripts } = counting();
    attempt.tellOfInput();
    attempt.stop({ kind: 'drain' });
    await expect(channelOf(attempt, ledger).take()).rejects.toThrow('drain');
    expect(scripts).toEqual([]);
  });

  it('does not let one call that fails fail the next', async () => {
    const { attempt } = await running();
    let isBroken = true;
    const run: Ledger['run'] = (...call) => (isBroken ? Promise.reject(new Error('a mistake')) : book.ledger.run(...call));
    const channel = channelOf(attempt, { ...book.ledger, run });
    attempt.tellOfInput();
    await expect(channel.take()).rejects.toThrow('a mistake');
    isBroken = false;
    attempt.tellOfInput();
    expect(await channel.take()).toEqual([]);
  });
});

describe('a look for input', () => {
  it('tells the attempts in whose lane something waits, and no others', async () => {
    const { attempt: meant, held } = await running();
    const { attempt: idle } = await running('session:bob');
    const { attempt: alone } = await running(null);
    await book.accepted({ lane: { name: LANE, limit: 1 } });
    await lookForInput(book.ledger, [meant, idle, alone]);
    expect(leaseMember(held)).toBe(meant.member);
    expect([meant, idle, alone].map((attempt) => attempt.answerToInput())).toEqual([true, false, false]);
    // Input for a task without a lane waits in one that is made for it.
    await book.redis.zadd(book.keys.tenant(TENANT).laneWait(`task:${alone.ref.id}`), 1, 'message');
    await lookForInput(book.ledger, [idle, alone]);
    expect([idle, alone].map((attempt) => attempt.answerToInput())).toEqual([false, true]);
  });
});
