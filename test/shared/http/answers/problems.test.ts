import { describe, expect, it } from 'vitest';
import { ERROR_CODES, type ErrorCode, MusterError } from '#shared/errors/error-codes.ts';
import { toMusterError, toProblem } from '#shared/http/answers/problems.ts';

describe('an error as a problem', () => {
  it.each(Object.keys(ERROR_CODES) as ErrorCode[])('%s has its status and title', (code) => {
    const { status, title } = ERROR_CODES[code];
    const problem = toProblem(new MusterError(code, 'What happened'));
    expect(problem).toEqual({ type: `urn:muster:problem:${code}`, status, title, detail: 'What happened', code });
    expect(problem.status).toBeGreaterThanOrEqual(400);
  });

  it.each([
    Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:6379'), { code: 'ECONNREFUSED' }),
    new Error('Command timed out'),
    new Error('LOADING Redis is loading the dataset in memory'),
  ])('$message means that Redis is away', (error) => {
    expect(toMusterError(error)).toMatchObject({ code: 'unavailable.redis', retryAfterMs: 2000 });
  });

  it('what nobody foresaw keeps its words to itself', () => {
    for (const error of [new Error('secret'), 'secret', null, undefined, { code: 'task.not-found', message: 'secret' }]) {
      const known = toMusterError(error);
      expect(known.code).toBe('internal.error');
      expect(JSON.stringify(toProblem(known))).not.toContain('secret');
    }
  });
});
