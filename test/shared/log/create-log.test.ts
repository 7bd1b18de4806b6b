import { describe, expect, it } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import type { Log } from '#shared/log/index.ts';

function lineOf(write: (log: Log) => void): Record<string, unknown> {
  const lines: string[] = [];
  write(createLog({ level: 'info', service: 'test', destination: { write: (line) => void lines.push(line) } }));
  return JSON.parse(lines[0] ?? '{}') as Record<string, unknown>;
}

describe('a log line', () => {
  it.each([
    ['in the logged object', { token: 'hidden', status: 200 }, { token: '[redacted]', status: 200 }],
    ['one level below', { call: { key: 'hidden', path: '/' } }, { call: { key: '[redacted]', path: '/' } }],
    ['two levels below', { call: { headers: { cookie: 'hidden' } } }, { call: { headers: { cookie: '[redacted]' } } }],
    ['in an element of a list', { calls: [{ apiKey: 'hidden' }, 7] }, { calls: [{ apiKey: '[redacted]' }, 7] }],
    ['as an object', { call: { secret: { of: 'hidden' } } }, { call: { secret: '[redacted]' } }],
  ])('has no secret %s', (_where, logged, written) => {
    expect(lineOf((log) => log.info(logged, 'said'))).toMatchObject({ ...written, msg: 'said', level: 'info', service: 'test' });
  });

  it('has no secret of the child that writes it', () => {
    expect(lineOf((log) => log.child({ password: 'hidden', task: 't' }).info('said'))).toMatchObject({ password: '[redacted]', task: 't' });
  });

  it('has an error with its message, stack and members, without secrets', () => {
    const err = Object.assign(new Error('refused'), { code: 'X', authorization: 'hidden', request: { key: 'hidden' } });
    const line = lineOf((log) => log.error({ err }, 'failed'));
    expect(line['err']).toMatchObject({ type: 'Error', message: 'refused', code: 'X', authorization: '[redacted]' });
    expect(JSON.stringify(line)).not.toContain('hidden');
    expect((line['err'] as Record<string, unknown>)['stack']).toContain('create-log.test.ts');
  });

  it('leaves what was logged as it is', () => {
    const logged = { call: { key: 'kept' }, at: new Date(0) };
    expect(lineOf((log) => log.info(logged))).toMatchObject({ at: '1970-01-01T00:00:00.000Z' });
    expect(logged.call.key).toBe('kept');
  });
});
