import { type ErrorCode, hasCode, TaskFailure } from '../../errors/index.ts';

const TOO_LARGE: readonly ErrorCode[] = ['request.too-large', 'limit.storage'];

/** Why a file could not be stored or read, as the failure of an attempt. `name`: of an attachment, whose size its sender chose. */
export function failureOfFiles(error: unknown, name?: string): TaskFailure {
  if (error instanceof TaskFailure) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const message = name === undefined ? reason : `"${name}": ${reason}`;
  if (!TOO_LARGE.some((code) => hasCode(error, code))) return new TaskFailure('FILES_UNAVAILABLE', message, { cause: error });
  return new TaskFailure(name === undefined ? 'OUTPUT_TOO_LARGE' : 'INVALID_INPUT', message);
}
