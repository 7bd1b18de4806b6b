import { expect, it } from 'vitest';
import { ERROR_CODES, type ErrorCode, MusterError } from '#shared/errors/error-codes.ts';
import { isOpenaiPath, openaiError } from '#shared/http/answers/openai-errors.ts';

const codes = Object.keys(ERROR_CODES) as ErrorCode[];

it.each(codes)('%s has a status and a type that fit each other, and says whether to send it again', (code) => {
  const { status, body, headers } = openaiError(new MusterError(code, 'a sentence'));
  const type = status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : 'invalid_request_error';
  expect(status).toBeGreaterThanOrEqual(400);
  // Clients have no class of their own for it.
  expect(status).not.toBe(422);
  expect(body.error).toMatchObject({ type, message: 'a sentence' });
  expect(headers['x-should-retry']).toBe(String(ERROR_CODES[code].retry === 'later' && code !== 'limit.budget'));
});

it.each([
  ['body.messages.0.role', 'messages[0].role'],
  ['body.tools.0', 'tools[0]'],
  ['body.input[2].content[0]', 'input[2].content[0]'],
  ['body.input.2.content.10', 'input[2].content[10]'],
  ['body.model', 'model'],
])('names the field that is wrong as OpenAI does: %s is %s', (path, param) => {
  const details = { problems: [{ path, message: 'expected one' }] };
  expect(openaiError(new MusterError('request.invalid', 'x', { details })).body.error.param).toBe(param);
});

it('names no field where none is wrong', () => {
  expect(openaiError(new MusterError('agent.unknown', 'x')).body.error.param).toBe('model');
  expect(openaiError(new MusterError('limit.rate', 'x')).body.error.param).toBeNull();
});

it('is for the paths of this protocol alone', () => {
  expect([isOpenaiPath('/openai/v1/models'), isOpenaiPath('/v1/tasks'), isOpenaiPath('/openaix')]).toEqual([true, false, false]);
});
