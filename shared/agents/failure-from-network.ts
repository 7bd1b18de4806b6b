import { TaskFailure } from '../errors/task-failure.ts';

/** A chain of causes is a few links long; the bound is for one that bites its tail. */
const MAX_DEPTH = 10;

/**
 * The failure that a request without a (whole) answer makes of an attempt: a `TaskFailure` found among the causes, such as
 * a refused address, else NETWORK_ERROR, which is tried again.
 */
export function failureFromNetwork(error: unknown): TaskFailure {
  const causes = listCauses(error);
  const named = causes.find((cause) => cause instanceof TaskFailure);
  if (named !== undefined) return named;
  const innermost = causes.at(-1);
  const reason = readCode(innermost);
  const details = reason === undefined ? {} : { details: { reason } };
  return new TaskFailure('NETWORK_ERROR', `The connection failed: ${innermost?.message || reason || 'unknown error'}`, details);
}

function listCauses(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let current = error; current instanceof Error && causes.length < MAX_DEPTH; current = current.cause) causes.push(current);
  return causes;
}

function readCode(error: Error | undefined): string | undefined {
  return error !== undefined && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
