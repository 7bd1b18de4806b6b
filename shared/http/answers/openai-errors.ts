import { ERROR_CODES, type ErrorCode, type MusterError } from '../../errors/index.ts';

/** Where OpenAI's protocol is served: errors have its form there. */
const PREFIX = '/openai/';

/** An error as clients of OpenAI read it. */
interface OpenaiError {
  status: number;
  body: {
    error: { message: string; type: 'invalid_request_error' | 'rate_limit_error' | 'server_error'; param: string | null; code: string };
  };
  headers: Record<string, string>;
}

/** What clients know by other codes or statuses than ours. */
const OWN: Readonly<Partial<Record<ErrorCode, { code: string; status?: number }>>> = {
  'agent.unknown': { code: 'model_not_found', status: 404 },
  'agent.not-found': { code: 'model_not_found' },
  'auth.missing': { code: 'invalid_api_key' },
  'auth.invalid': { code: 'invalid_api_key' },
  'limit.rate': { code: 'rate_limit_exceeded' },
  'limit.waiting': { code: 'rate_limit_exceeded' },
  'limit.pressure': { code: 'rate_limit_exceeded' },
  'limit.budget': { code: 'insufficient_quota' },
  'request.invalid': { code: 'invalid_request', status: 400 },
  'task.not-found': { code: 'not_found' },
  'upload.not-found': { code: 'file_not_found', status: 404 },
};

export function isOpenaiPath(path: string): boolean {
  return path.startsWith(PREFIX);
}

/** The status and the code by which clients branch, and what tells them whether to send it again: else they go by the status alone. */
export function openaiError({ code, message, details }: MusterError): OpenaiError {
  const { status: usual, retry } = ERROR_CODES[code];
  const { code: name = code, status = usual === 422 ? 400 : usual } = OWN[code] ?? {};
  const type = status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : 'invalid_request_error';
  const error = { message, type, param: paramOf(code, details), code: name } as const;
  return { status, body: { error }, headers: { 'x-should-retry': String(retry === 'later' && code !== 'limit.budget') } };
}

/** The field that is wrong, as OpenAI names it: `messages[0].content`. */
function paramOf(code: ErrorCode, details: Readonly<Record<string, unknown>> | undefined): string | null {
  if (OWN[code]?.code === 'model_not_found') return 'model';
  const problems = details?.['problems'];
  const path = pathOf(Array.isArray(problems) ? problems[0] : undefined)?.replace(/^(?:body|query|params|headers)\./, '');
  return path?.replaceAll(/\.(\d+)(?=\.|\[|$)/g, '[$1]') ?? null;
}

function pathOf(problem: unknown): string | null {
  return typeof problem === 'object' && problem !== null && 'path' in problem ? String(problem.path) : null;
}
