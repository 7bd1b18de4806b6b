import { z } from 'zod';
import { DeliveryRefused, type RefusalKind } from '#shared/deliveries/index.ts';

/** A call that is made again changes nothing; a post that is made again shows twice. */
export type CallKind = 'post' | 'edit';

/** Fields of the adapters' errors; each error has some. Their texts are for people, so the fields decide. */
const errorSchema = z.object({
  message: z.string().catch(''),
  code: z.union([z.string(), z.number()]).optional().catch(undefined),
  status: z.number().optional().catch(undefined),
  statusCode: z.number().optional().catch(undefined),
  /** Meta's own. */
  errorCode: z.number().optional().catch(undefined),
  /** Seconds. */
  retryAfter: z.number().optional().catch(undefined),
  data: z.object({ error: z.string() }).optional().catch(undefined),
  original: z.unknown().optional(),
  originalError: z.unknown().optional(),
  cause: z.unknown().optional(),
});
type AdapterProblem = z.infer<typeof errorSchema>;

/** Discord's body of a 429; the adapter has it as the error's text. */
const throttleSchema = z.object({ retry_after: z.number() });

const KIND_BY_CODE: Readonly<Record<string, RefusalKind>> = {
  RATE_LIMITED: 'throttled',
  slack_webapi_rate_limited_error: 'throttled',
  PERMISSION_DENIED: 'gone',
  NOT_FOUND: 'gone',
  // Refused as it is, and refused again: a chat that is not there, a message that cannot be edited any more.
  VALIDATION_ERROR: 'gone',
  // The operator can repair a token, and the answer is still worth sending then.
  AUTH_FAILED: 'transient',
};

/** The connection was never made, so nothing was sent. */
const NOT_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);
/**
 * Meta's codes, whatever the status: https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes. Nothing was
 * sent for 1 and 131000, says Meta, for an unknown reason.
 */
const META_KINDS: ReadonlyMap<number, RefusalKind> = new Map([
  ...[1, 2, 131_000, 131_016, 131_057, 133_004].map((code) => [code, 'transient'] as const),
  ...[4, 80_007, 130_429, 131_048, 131_056].map((code) => [code, 'throttled'] as const),
]);
/** According to Slack, some aspect of the operation may have succeeded. */
const SLACK_UNSURE = new Set(['internal_error', 'fatal_error']);
/** Nothing was done: there was nothing behind the gateway, or too much to do. */
const NOT_DONE = new Set([502, 503]);

/** Slack's own trouble, or a token that the operator can repair. */
const SLACK_PASSING = new Set([
  'service_unavailable',
  'request_timeout',
  'team_added_to_org',
  'accesslimited',
  'invalid_auth',
  'not_authed',
  'token_expired',
  'token_revoked',
]);

/** The kind of an adapter's error, as deliveries distinguish them. */
export function refusalOf(error: unknown, call: CallKind): DeliveryRefused {
  const chain = chainOf(error);
  const message = chain.find((each) => each.message !== '')?.message ?? 'The platform refused it';
  const retryAfterMs = chain.map(retryAfterMsOf).find((ms) => ms !== undefined);
  const kind = chain.map((problem) => kindOf(problem, call)).find((each) => each !== null) ?? networkKind(chain, call);
  return new DeliveryRefused(kind, message.slice(0, 500), {
    cause: error,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** The error and what it wraps, the innermost first: it knows best. */
function chainOf(error: unknown, depth = 4): AdapterProblem[] {
  const read = errorSchema.safeParse(error);
  if (!read.success || depth === 0) return [];
  const inner = read.data.originalError ?? read.data.original ?? read.data.cause;
  return [...chainOf(inner, depth - 1), read.data];
}

function kindOf(problem: AdapterProblem, call: CallKind): RefusalKind | null {
  const status = problem.status ?? problem.statusCode;
  if (problem.data !== undefined) return kindOfSlack(problem.data.error, call);
  const byMeta = problem.errorCode === undefined ? undefined : META_KINDS.get(problem.errorCode);
  if (byMeta !== undefined) return byMeta;
  const byCode = typeof problem.code === 'string' ? KIND_BY_CODE[problem.code] : undefined;
  if (byCode !== undefined) return byCode;
  return status === undefined ? null : kindOfStatus(status, call);
}

function kindOfSlack(error: string, call: CallKind): RefusalKind {
  if (SLACK_UNSURE.has(error)) return unsure(call);
  return SLACK_PASSING.has(error) ? 'transient' : 'gone';
}

function kindOfStatus(status: number, call: CallKind): RefusalKind {
  if (status === 429) return 'throttled';
  if (status >= 500 && !NOT_DONE.has(status)) return unsure(call);
  return status >= 500 || status === 401 || status === 408 ? 'transient' : 'gone';
}

/** An edit may be made twice, a post would be seen twice. */
function unsure(call: CallKind): RefusalKind {
  return call === 'post' ? 'unknown' : 'transient';
}

function retryAfterMsOf({ retryAfter, status, message }: AdapterProblem): number | undefined {
  if (retryAfter !== undefined) return retryAfter * 1000;
  if (status !== 429) return undefined;
  const body = throttleSchema.safeParse(parseJson(message));
  return body.success ? Math.ceil(body.data.retry_after * 1000) : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** No answer came, or it cannot be read. */
function networkKind(chain: readonly AdapterProblem[], call: CallKind): RefusalKind {
  const wasNotSent = chain.some(({ code }) => typeof code === 'string' && NOT_SENT.has(code));
  const isUnreadable = chain.length === 1 && chain[0]?.code === 'NETWORK_ERROR';
  return !wasNotSent && (isUnreadable || chain.some(isBroken)) ? unsure(call) : 'transient';
}

/** A connection that broke in the middle, as opposed to a refusal without a known status. */
function isBroken({ code, message }: AdapterProblem): boolean {
  return (typeof code === 'string' && /^(UND_ERR_|ECONN|EPIPE|ETIMEDOUT)/.test(code)) || message === 'fetch failed';
}
