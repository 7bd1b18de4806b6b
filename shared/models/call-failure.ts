import { StreamProviderError } from 'ai';
import { z } from 'zod';
import { TaskFailure } from '../errors/index.ts';
import { readFinishReason } from '../providers/index.ts';
import { truncate } from '../text/index.ts';

/** Codes of calls that failed by their endpoint: the same call may have been answered by another. */
const ENDPOINT_CODES: ReadonlySet<string> = new Set(['PROVIDER_ERROR', 'NETWORK_ERROR']);

/** Whether a call failed by its endpoint. A wrong call, a throttle and a refusal of ours are none. */
function isEndpointFailure({ code }: TaskFailure): boolean {
  return ENDPOINT_CODES.has(code);
}

/** Whether a failure counts for the circuit of its endpoint. An endpoint that answers 4xx works. */
export function isEndpointBroken(failure: TaskFailure): boolean {
  const status = Number(failure.details?.['status']);
  return isEndpointFailure(failure) && !(status >= 400 && status < 500);
}

/** What a provider refuses for a while. */
const REFUSALS: ReadonlySet<string> = new Set(['THROTTLED', 'PROVIDER_QUOTA']);

/** Whether another model may answer a call that failed so. */
export function mayFallBack(failure: TaskFailure): boolean {
  return isEndpointFailure(failure) || REFUSALS.has(failure.code);
}

/** Statuses of an endpoint that is away, whatever it was sent. */
const AWAY: ReadonlySet<unknown> = new Set([502, 503, 504]);

/** Whether a call failed because its endpoint is away, and not by what it was sent. */
export function isEndpointAway({ code, details }: TaskFailure): boolean {
  return code === 'NETWORK_ERROR' || (code === 'PROVIDER_ERROR' && AWAY.has(details?.['status']));
}

/** The error of an answer that its provider broke off and says so in its ending; null for any other ending. */
export function brokenOff(raw: string | undefined): TaskFailure | null {
  if (raw === undefined || readFinishReason(raw) !== 'error') return null;
  const message = `The endpoint broke its answer off: it ended by "${truncate(raw, MAX_WORD)}"`;
  return new TaskFailure('PROVIDER_ERROR', message, { details: { finishReason: truncate(raw, MAX_WORD) } });
}

const MAX_WORD = 100;
const named = z.union([z.string(), z.number()]).optional().catch(undefined);
/** The error that a provider writes into its stream. */
const streamErrorSchema = z.object({ message: z.string(), type: z.string().optional().catch(undefined), code: named, status: named });

/** The error of a part of a stream, as an error of the SDK where the provider wrote it. */
export function streamError(error: unknown): unknown {
  const read = error instanceof Error ? undefined : streamErrorSchema.safeParse(error).data;
  if (read === undefined) return error;
  const { message, type, code, status } = read;
  const statusCode = [status, code].map(Number).find((number) => Number.isInteger(number) && number >= 100 && number < 600);
  return new StreamProviderError({
    message,
    data: error,
    ...(type === undefined ? {} : { type }),
    ...(code === undefined ? {} : { code }),
    ...(statusCode === undefined ? {} : { statusCode }),
  });
}
