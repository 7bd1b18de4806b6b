import { expect, it } from 'vitest';
import { z } from 'zod';
import { MusterError } from '#shared/errors/error-codes.ts';
import { isUnreadable } from '../../../../services/chat/receive/inbound-call.ts';

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
