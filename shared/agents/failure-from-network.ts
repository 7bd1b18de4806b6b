import { TaskFailure } from '../errors/index.ts';
import { createSecretRedactor, type Redactor } from './create-hider.ts';

const HIDE_NOTHING = createSecretRedactor([]);
/** A chain of causes is a few links long; the bound is for one that bites its tail. */
const MAX_DEPTH = 10;

/**
 * The failure that a request without a (whole) answer makes of an attempt: a `TaskFailure` found among the causes, such as
 * a refused address, else NETWORK_ERROR, which is tried again. `hide` takes out of its text what nobody may see.
 */
export function failureFromNetwork(error: unknown, hide: Redactor = HIDE_NOTHING): TaskFailure {
  const causes = listCauses(error);
  const named = causes.find((cause) => cause instanceof TaskFailure);
  if (named !== undefined) return hideIn(named, hide);
  const innermost = causes.at(-1);
  const reason = readCode(innermost);
  const details = reason === undefined ? {} : { details: { reason } };
  return new TaskFailure('NETWORK_ERROR', `The connection failed: ${hide(innermost?.message || reason || 'unknown error')}`, details);
}

function hideIn(failure: TaskFailure, hide: Redactor): TaskFailure {
  const { code, message, details, retryAfterMs } = failure;
  const shown = hide(message);
  if (shown === message) return failure;
  return new TaskFailure(code, shown, {
    ...(details === undefined ? {} : { details }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** Every error that led to this one, itself first. */
export function listCauses(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let current = error; current instanceof Error && causes.length < MAX_DEPTH; current = current.cause) causes.push(current);
  return causes;
}

function readCode(error: Error | undefined): string | undefined {
  return error !== undefined && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
