import { expect, it } from 'vitest';
import { z } from 'zod';
import { MusterError } from '#shared/errors/error-codes.ts';
import { InboundCall, isUnreadable } from '../../../../services/chat/receive/inbound-call.ts';

const refusal = z.object({ id: z.string() }).safeParse({});

it.each<[string, unknown]>([
  ['a part that is not there', new TypeError("Cannot read properties of undefined (reading 'id')")],
  ['a time that is none', new RangeError('Invalid time value')],
  ['a schema', refusal.error],
  ["an adapter's own check", Object.assign(new Error('Invalid thread id'), { code: 'VALIDATION_ERROR' })],
])('an update is unreadable for %s', (_what, error) => {
  expect(isUnreadable(error)).toBe(true);
});

it.each<[string, unknown]>([
  ['a call to the platform that failed', new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })],
  ['a refusal of ours', new MusterError('limit.rate', 'too many')],
  ['a mistake of ours on the way into the ledger', new MusterError('internal.error', 'no', { cause: new TypeError('x is undefined') })],
  ['an answer of the platform that is no JSON', new SyntaxError('Unexpected token')],
  ['anything else', new Error('no')],
  ['nothing', undefined],
])('an update is not unreadable for %s', (_what, error) => {
  expect(isUnreadable(error)).toBe(false);
});

it('a request is accepted once each message that it brought is, and not when one of them failed', async () => {
  const call = new InboundCall();
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  expect(call.isAccepted).toBe(false);
  const accepting = [call.accept(() => first.promise)];
  expect(call.isAccepted).toBe(false);
  accepting.push(call.accept(() => second.promise));
  first.resolve();
  await accepting[0];
  expect(call.isAccepted).toBe(false);
  second.resolve();
  await accepting[1];
  expect(call.isAccepted).toBe(true);
  await expect(call.accept(() => Promise.reject(new Error('Redis is away')))).rejects.toThrow('Redis is away');
  expect([call.isAccepted, call.hasFailed]).toEqual([false, true]);
  const failed = new InboundCall();
  await failed.accept(() => Promise.reject(new Error('Redis is away'))).catch(() => undefined);
  expect(failed.isAccepted).toBe(false);
});

it('a request is settled once the work is that was handed over meanwhile, whose failure is its own', async () => {
  const call = new InboundCall();
  const [first, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  call.waitUntil(first.promise.then(() => call.waitUntil(late.promise)));
  let isSettled = false;
  const settled = call.settled().then(() => (isSettled = true));
  first.resolve();
  await new Promise(setImmediate);
  expect(isSettled).toBe(false);
  late.reject(new Error('Redis is away'));
  await settled;
  expect(call.failure).toMatchObject({ message: 'Redis is away' });
});
