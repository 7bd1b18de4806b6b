import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { MusterError } from '#shared/errors/error-codes.ts';
import { describeStartFailure } from '#shared/lifecycle/end-process.ts';

test('a port in use is named, with the variable that changes it, and nothing to try again for a supervisor', async () => {
  const first = createServer().listen(0, '127.0.0.1');
  await once(first, 'listening');
  const address = first.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const second = createServer().listen(port, '127.0.0.1');
  const [error] = (await once(second, 'error')) as [Error];
  first.close();
  await once(first, 'close');
  const failure = describeStartFailure(error);
  expect(failure).toMatchObject({ exitCode: 78, isExpected: true });
  expect(failure.message).toContain(`port ${port}`);
  expect(failure.message).toContain('PORT=');
});

test('a configuration that is wrong is for the operator to repair', () => {
  expect(describeStartFailure(new MusterError('config.invalid', 'PORT: too large'))).toEqual({
    message: 'PORT: too large',
    exitCode: 78,
    isExpected: true,
  });
});

test('a Redis that is away may be back at the next try', () => {
  expect(describeStartFailure(new MusterError('unavailable.redis', 'gone'))).toMatchObject({ exitCode: 1, isExpected: true });
});

test('a file that may not be read is not taken for a port', () => {
  const error = Object.assign(new Error('EACCES: permission denied, open'), { code: 'EACCES' });
  expect(describeStartFailure(error)).toMatchObject({ exitCode: 1, isExpected: false });
});

test('anything else is a defect of ours', () => {
  expect(describeStartFailure(new TypeError('x is not a function'))).toMatchObject({ exitCode: 1, isExpected: false });
  expect(describeStartFailure('a string')).toMatchObject({ message: 'a string', isExpected: false });
});
