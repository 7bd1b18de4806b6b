import { readProviderError } from '#shared/providers/answers/provider-error.ts';
import { describe, expect, it } from 'vitest';
import { explainProvider } from '#shared/providers/explain-provider.ts';
import { throttleId } from '#shared/providers/account.ts';
import {
  admitCall,
  type AdmissionInput,
  keysOf,
  reserveCalls,
  type ThrottledModel,
  type ThrottlePorts,
} from '#shared/providers/throttle-scripts.ts';
import { systemClock } from '#shared/time/index.ts';
import { useParts } from '../../support/use-parts.ts';
import { waitFor } from '../../support/wait-for.ts';
import { openTrial } from './throttle-trial.ts';

const parts = await useParts();
/** Calls have to go at once, or are held. */
const NO_WAIT = { maxInSlotWaitMs: 0, maxCallWaitMs: 0 };

/** A call as the script takes it. */
function scriptCall(call: Partial<AdmissionInput>): AdmissionInput {
  return { tenant: 'one', band: 'normal', weight: 1, permit: 'large', tokens: 100, isFirst: true, isReturning: false, leftMs: 0, ...call };
}

/** Whether the script lets a call go, or for what it waits. */
async function askScript(ports: ThrottlePorts, target: ThrottledModel, call: Partial<AdmissionInput>): Promise<string> {
  const [kind, because] = await admitCall(ports, target, scriptCall(call));
  return kind === 'go' ? 'go' : because;
}

/** Calls that count in the window of a model. */
async function bookedCalls(ports: ThrottlePorts, target: ThrottledModel): Promise<number> {
  const window = Object.entries(await ports.redis.hgetall(keysOf(ports, target).window));
  return window.reduce((total, [field, count]) => total + (field.startsWith('r') ? Number(count) : 0), 0);
}

describe('calls of a model', () => {
  it('go at once without limits', async () => {
    const { admit } = openTrial(parts);
    const answers = await Promise.all(Array.from({ length: 20 }, () => admit()));
    expect(answers.map(({ kind }) => kind)).toEqual(Array.from({ length: 20 }, () => 'go'));
  });

  it('go at once up to the burst, and are then held for the rate', async () => {
    const { admit } = openTrial(parts, { requestsPerMinute: 60 }, { ...NO_WAIT, burst: 0.1 });
    const answers = await Promise.all(Array.from({ length: 10 }, () => admit()));
    expect(answers.filter(({ kind }) => kind === 'go')).toHaveLength(7);
    expect(answers.at(-1)).toMatchObject({ kind: 'wait', because: 'rate', scope: 'model', hold: { gate: 'provider' } });
  });

  it('never exceed a minute of the rate, however large the burst', async () => {
    const { admit } = openTrial(parts, { requestsPerMinute: 5 }, { ...NO_WAIT, burst: 1 });
    const answers = await Promise.all(Array.from({ length: 8 }, () => admit()));
    expect(answers.filter(({ kind }) => kind === 'go')).toHaveLength(5);
  });

  it('are held for tokens, of which a call gives back what it did not use', async () => {
    const { admit, permitOf, throttle } = openTrial(parts, { tokensPerMinute: 1000 }, { ...NO_WAIT, burst: 1 });
    const first = await permitOf({ tokens: 600 });
    expect(await admit({ tokens: 600 })).toMatchObject({ kind: 'wait', because: 'tokens' });
    await throttle.reportCall(first, { status: 200, tokens: 100 });
    // The one that waits goes first.
    expect(await admit({ tokens: 600, isFirst: false })).toMatchObject({ kind: 'go' });
  });

  it('go in their slot at the time that was booked, when it comes soon', async () => {
    const { permitOf } = openTrial(parts, { requestsPerMinute: 600 }, { burst: 0 });
    const permits = await Promise.all(Array.from({ length: 4 }, () => permitOf()));
    const times = permits.map(({ at }) => at).toSorted((a, b) => a - b);
    for (const [position, at] of times.entries()) expect(at - (times[0] ?? 0)).toBeGreaterThanOrEqual(position * 100);
  });

  it('give their place back when they are aborted before it', async () => {
    const { admit, permitOf, ports, target } = openTrial(parts, { requestsPerMinute: 60 }, { burst: 0 });
    await permitOf();
    const abort = new AbortController();
    const waiting = admit({}, abort.signal);
    abort.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    expect(await ports.redis.zcard(keysOf(ports, target).calls)).toBe(1);
    const window = await ports.redis.hgetall(keysOf(ports, target).window);
    const calls = Object.entries(window).filter(([field]) => field.startsWith('r'));
    expect(calls.reduce((total, [, count]) => total + Number(count), 0)).toBe(1);
  });

  it('count for the minute after the provider had them, when that was later than booked', async () => {
    const { permitOf, ports, target, throttle } = openTrial(parts, { requestsPerMinute: 60 }, { burst: 1 });
    const permit = await permitOf({ tokens: 50 });
    const { window: key } = keysOf(ports, target);
    // As if the process was busy for so long before it sent the call.
    const at = permit.at - 3000;
    const second = Math.floor(at / 1000);
    await ports.redis.del(key);
    await ports.redis.hset(key, `r${second}`, 1, `t${second}`, 50);
    await throttle.reportCall({ ...permit, at }, { status: 200, tokens: 20, sentAt: systemClock.monotonic(), beganAfterMs: 200 });
    const counted = Object.entries(await ports.redis.hgetall(key)).filter(([, count]) => count !== '0');
    expect(counted.map(([field, count]) => `${field[0]} ${count}`).toSorted()).toEqual(['r 1', 't 20']);
    for (const [field] of counted) expect(Number(field.slice(1))).toBeGreaterThanOrEqual(second + 2);
  });

  it('wait for the end of another where only some may run at once', async () => {
    const { admit, permitOf, throttle } = openTrial(parts, { concurrent: 2 });
    const [first] = await Promise.all([permitOf(), permitOf()]);
    const later = admit({ isFirst: false });
    await throttle.reportCall(first, { status: 200 });
    expect(await later).toMatchObject({ kind: 'go' });
  });

  it('wait for the end of another in their order', async () => {
    const { permitOf, ports, target, throttle } = openTrial(parts, { concurrent: 1 });
    const running = await permitOf();
    const ask = (permit: string): Promise<string> => askScript(ports, target, { permit, isFirst: false, leftMs: 10_000 });
    expect(await ask('a')).toBe('concurrent');
    await throttle.reportCall(running, { status: 200 });
    expect(await ask('b')).toBe('concurrent');
    expect(await ask('a')).toBe('go');
  });

  it('leave room for those whose tasks were released', async () => {
    const { admit, permitOf, ports, target, throttle } = openTrial(parts, { concurrent: 1 }, NO_WAIT);
    const running = await permitOf();
    expect(await admit()).toMatchObject({ because: 'concurrent' });
    await throttle.reportCall(running, { status: 200 });
    expect(await reserveCalls(ports, target, { max: 1, excluded: [] })).toHaveLength(1);
    expect(await admit({ isFirst: false })).toMatchObject({ because: 'concurrent' });
    expect(await askScript(ports, target, { isReturning: true })).toBe('go');
  });

  it('are booked once for a released task, which uses that or gives it back when it does not come in time', async () => {
    const { admit, permitOf, ports, target, throttle } = openTrial(parts, { concurrent: 1 }, NO_WAIT);
    const running = await permitOf();
    for (let task = 0; task < 2; task += 1) expect(await admit()).toMatchObject({ because: 'concurrent' });
    await throttle.reportCall(running, { status: 200 });
    expect(await reserveCalls(ports, target, { max: 1, excluded: [] })).toHaveLength(1);
    expect(await askScript(ports, target, { isReturning: true })).toBe('go');
    expect(await bookedCalls(ports, target)).toBe(2);
    const { calls, reserved } = keysOf(ports, target);
    await ports.redis.del(calls);
    expect(await reserveCalls(ports, target, { max: 1, excluded: [] })).toHaveLength(1);
    expect([await bookedCalls(ports, target), await askScript(ports, target, { permit: 'next', isFirst: false })]).toEqual([
      3,
      'concurrent',
    ]);
    const [at = '', tokens = ''] = ((await ports.redis.hget(reserved, 'one')) ?? '').split(':');
    await ports.redis.hset(reserved, 'one', `${at}:${tokens}:1`);
    expect(await askScript(ports, target, { permit: 'next', isFirst: false })).toBe('go');
    expect([await bookedCalls(ports, target), await ports.redis.exists(reserved)]).toEqual([3, 0]);
  });

  it('are booked for no more tasks at once than may run', async () => {
    const { admit, permitOf, ports, target, throttle } = openTrial(parts, { concurrent: 2 }, NO_WAIT);
    const running = [await permitOf(), await permitOf()];
    for (let task = 0; task < 3; task += 1) expect(await admit()).toMatchObject({ because: 'concurrent' });
    for (const permit of running) await throttle.reportCall(permit, { status: 200 });
    expect(await reserveCalls(ports, target, { max: 10, excluded: [] })).toHaveLength(2);
  });

  it('are booked for one task only where it tries a wall', async () => {
    const { admit, permitOf, ports, target, throttle } = openTrial(parts, {}, NO_WAIT);
    await throttle.reportCall(await permitOf(), { status: 402, headers: { 'retry-after': '3600' } });
    for (let task = 0; task < 2; task += 1) expect(await admit()).toMatchObject({ because: 'wall' });
    await ports.redis.hset(keysOf(ports, target).account, 'block_until', 1);
    expect(await reserveCalls(ports, target, { max: 10, excluded: [] })).toHaveLength(1);
    expect(await reserveCalls(ports, target, { max: 10, excluded: [] })).toHaveLength(0);
  });

  it('are admitted once, also when they ask again because an answer was lost', async () => {
    const { ports, target } = openTrial(parts, { requestsPerMinute: 60, concurrent: 1 }, { ...NO_WAIT, burst: 0 });
    for (let times = 0; times < 2; times += 1) expect(await askScript(ports, target, { isFirst: false })).toBe('go');
    expect(await bookedCalls(ports, target)).toBe(1);
  });

  it('keep their leases for as long as they last', async () => {
    const { permitOf, ports, target, throttle } = openTrial(parts, { concurrent: 1 }, { ...NO_WAIT, callLeaseMs: 300 });
    const { id } = await permitOf();
    const until = async (): Promise<number> => Number(await ports.redis.zscore(keysOf(ports, target).calls, id));
    const first = await until();
    throttle.start();
    await expect.poll(until, { timeout: 10_000 }).toBeGreaterThan(first);
    await throttle.stop();
  });

  it('say when a task begins to wait, and when one ends for which some wait', async () => {
    const { admit, permitOf, throttle } = openTrial(parts, { concurrent: 1 }, NO_WAIT);
    let notified = 0;
    throttle.notify(() => (notified += 1));
    const running = await permitOf();
    expect([(await admit()).kind, notified]).toEqual(['wait', 1]);
    await throttle.reportCall(running, { status: 200 });
    expect(notified).toBe(2);
  });

  it('count no longer once the lease of their dead process has ended', async () => {
    const { admit, ports, target } = openTrial(parts, { concurrent: 1 }, NO_WAIT);
    expect(await admit()).toMatchObject({ kind: 'go' });
    expect(await admit({ isFirst: false })).toMatchObject({ kind: 'wait', because: 'concurrent' });
    const { calls } = keysOf(ports, target);
    const [permit = ''] = await ports.redis.zrange(calls, '0', '-1');
    await ports.redis.zadd(calls, '1', permit);
    expect(await admit({ isFirst: false })).toMatchObject({ kind: 'go' });
  });
});

describe('a task that waits for its rate', () => {
  it('is told when its turn should come, by the tasks before it', async () => {
    const { admit, permitOf, ports, target } = openTrial(parts, { requestsPerMinute: 60 }, { ...NO_WAIT, burst: 0 });
    const { at } = await permitOf();
    for (let count = 0; count < 3; count += 1) expect(await admit()).toMatchObject({ because: 'rate' });
    const providers = { [target.account.name]: { baseUrl: 'http://model.test', requestsPerMinute: 60 } };
    const what = throttleId(target.account, target.model);
    const explained = await explainProvider({ ...ports, settings: { ...ports.settings, providers } }, { tenant: 'one', what, ahead: 2 });
    // The next call goes a second after the first.
    expect((explained?.until ?? 0) - at).toBeGreaterThanOrEqual(3000);
  });

  it('leaves its place to others when it goes on otherwise', async () => {
    const { admit, permitOf, throttle, ports, target } = openTrial(parts, { requestsPerMinute: 60 }, { ...NO_WAIT, burst: 0 });
    await permitOf();
    const waiting = await admit();
    if (waiting.kind !== 'wait') throw new Error('The call goes');
    const flows = keysOf(ports, target).flows[1] ?? '';
    expect(await ports.redis.zcard(flows)).toBe(1);
    await throttle.leave(waiting.place);
    expect(await ports.redis.zcard(flows)).toBe(0);
    expect(await ports.redis.zscore(ports.keys.fleet.throttleWaits, throttleId(target.account, target.model))).toBeNull();
  });

  it('is spread by its own tokens once it is released, and not by those that were booked for it', async () => {
    const limits = { tokensPerMinute: 600 };
    const { admit, permitOf, ports, target } = openTrial(parts, limits, { ...NO_WAIT, burst: 0, horizonMs: 60_000 });
    await permitOf({ tokens: 100 });
    const place = { tenant: 'one', id: 'large', token: 1 };
    expect(await admit({ place, tokens: 300 })).toMatchObject({ because: 'tokens' });
    const [released] = await reserveCalls(ports, target, { max: 1, excluded: [] });
    expect(released).toEqual({ band: 'normal', tenant: 'one' });
    const read = async (field: string): Promise<number> => Number(await ports.redis.hget(keysOf(ports, target).state, field));
    const before = await read('tokens_at');
    expect(await askScript(ports, target, { tokens: 300, isReturning: true })).toBe('go');
    // 200 tokens more than the average that was booked.
    expect((await read('tokens_at')) - before).toBeCloseTo(20_000);
    expect(await read('average')).toBe(120);
  });

  it('has no time where calls wait for the end of others', async () => {
    const { admit, permitOf, ports, target } = openTrial(parts, { requestsPerMinute: 60, concurrent: 1 }, { ...NO_WAIT, burst: 1 });
    await permitOf();
    expect(await admit()).toMatchObject({ because: 'concurrent' });
    const providers = { [target.account.name]: { baseUrl: 'http://model.test', requestsPerMinute: 60, concurrent: 1 } };
    const what = throttleId(target.account, target.model);
    const explained = await explainProvider({ ...ports, settings: { ...ports.settings, providers } }, { tenant: 'one', what, ahead: 0 });
    expect(explained).toMatchObject({ until: null });
  });
});

describe('an answer', () => {
  it('teaches the limits of an account that is not configured', async () => {
    const { admit, permitOf, throttle } = openTrial(parts, {}, { ...NO_WAIT, burst: 1 });
    const headers = { 'x-ratelimit-limit-requests': '3', 'x-ratelimit-remaining-requests': '2', 'x-ratelimit-reset-requests': '20s' };
    await throttle.reportCall(await permitOf(), { status: 200, headers });
    const answers = await Promise.all(Array.from({ length: 4 }, () => admit()));
    expect(answers.filter(({ kind }) => kind === 'go')).toHaveLength(2);
  });

  it('counts what others used of the same account', async () => {
    const { admit, permitOf, throttle } = openTrial(parts, { requestsPerMinute: 100 }, { ...NO_WAIT, burst: 1 });
    const headers = { 'x-ratelimit-limit-requests': '100', 'x-ratelimit-remaining-requests': '2', 'x-ratelimit-reset-requests': '20s' };
    await throttle.reportCall(await permitOf(), { status: 200, headers });
    const answers = await Promise.all(Array.from({ length: 4 }, () => admit()));
    expect(answers.filter(({ kind }) => kind === 'go')).toHaveLength(2);
  });

  it('of 429 cools the model down for as long as it says, and no other', async () => {
    const { admit, permitOf, throttle } = openTrial(parts, {}, NO_WAIT);
    await throttle.reportCall(await permitOf(), { status: 429, headers: { 'retry-after': '30' } });
    const held = await admit();
    expect(held).toMatchObject({ kind: 'wait', because: 'cooldown', scope: 'model' });
    expect(held.kind === 'wait' && held.untilMs - Date.now()).toBeGreaterThan(20_000);
    expect(await admit({ model: 'another' })).toMatchObject({ kind: 'go' });
  });

  it('that refuses a call holds its task among those that wait for the model', async () => {
    const { permitOf, throttle, ports, target } = openTrial(parts, {}, NO_WAIT);
    const what = throttleId(target.account, target.model);
    const hold = await throttle.reportCall(await permitOf({ isFirst: false }), { status: 429, headers: { 'retry-after': '30' } });
    expect(hold).toMatchObject({ because: 'cooldown', scope: 'model', hold: { gate: 'provider', what } });
    expect((hold?.untilMs ?? 0) - Date.now()).toBeGreaterThan(20_000);
    expect(await ports.redis.zscore(ports.keys.fleet.throttleWaits, what)).not.toBeNull();
    expect(await ports.redis.zcard(keysOf(ports, target).flows[1] ?? '')).toBe(1);
    const { permitOf: another, throttle: other } = openTrial(parts, {}, NO_WAIT);
    expect(await other.reportCall(await another(), { status: 200, tokens: 5 })).toBeNull();
  });

  it('of an overloaded endpoint cools all its accounts down', async () => {
    const { admit, permitOf, throttle, target } = openTrial(parts, {}, NO_WAIT);
    await throttle.reportCall(await permitOf(), { status: 529, error: readProviderError({ type: 'overloaded_error' }, true) ?? undefined });
    const account = { ...target.account, name: 'another' };
    expect(await admit({ account })).toMatchObject({ kind: 'wait', because: 'cooldown', scope: 'endpoint' });
  });
});

describe('a wall', () => {
  const refusal = { status: 429, error: readProviderError({ code: 'insufficient_quota' }, true) ?? undefined };

  it('holds all models of the account until one call has tried', async () => {
    const { admit, permitOf, throttle } = openTrial(parts, {}, { ...NO_WAIT, probeMs: 100 });
    await throttle.reportCall(await permitOf(), refusal);
    expect(await admit({ model: 'another' })).toMatchObject({ kind: 'wait', because: 'wall', scope: 'account' });
    const probe = await pollForPermit(permitOf);
    expect(await admit()).toMatchObject({ kind: 'wait', because: 'wall' });
    await throttle.reportCall(probe, { status: 200 });
    expect(await admit({ isFirst: false })).toMatchObject({ kind: 'go' });
  });

  it('is tried by another at once when the call that was to try did not go', async () => {
    const { permitOf, throttle } = openTrial(parts, {}, { ...NO_WAIT, probeMs: 20 });
    await throttle.reportCall(await permitOf(), refusal);
    const probe = await pollForPermit(permitOf);
    await expect(permitOf({ isFirst: false })).rejects.toThrow('wall');
    await throttle.reportCall(probe, { tokens: 0 });
    await throttle.reportCall(await permitOf({ isFirst: false }), { status: 200 });
  });

  it('stands for longer after each call that tried in vain, and once for calls that went together', async () => {
    const { admit, permitOf, throttle, ports, target } = openTrial(parts, {}, { ...NO_WAIT, probeMs: 100 });
    const together = await Promise.all([permitOf(), permitOf(), permitOf()]);
    await Promise.all(together.map((permit) => throttle.reportCall(permit, refusal)));
    const { account } = keysOf(ports, target);
    expect(await ports.redis.hget(account, 'fails')).toBe('1');
    await throttle.reportCall(await pollForPermit(permitOf), refusal);
    expect(await ports.redis.hget(account, 'fails')).toBe('2');
    expect(await admit()).toMatchObject({ kind: 'wait', because: 'wall' });
  });
});

/** Tries until a call may go, as later calls of attempts do. */
async function pollForPermit<Permit>(permitOf: (call: { isFirst: false }) => Promise<Permit>): Promise<Permit> {
  return await waitFor(() => permitOf({ isFirst: false }).catch(() => null), {
    deadlineMs: 10_000,
    everyMs: 5,
    what: 'a call that may go',
  });
}
