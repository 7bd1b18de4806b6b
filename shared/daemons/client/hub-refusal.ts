import type { IncomingMessage } from 'node:http';
import { CLOSE_CODES } from '../protocol.ts';

/** `token`: it is not known; `taken-over`: another process uses it; `not-a-hub`: something else answers; `unreachable`: nothing does. */
export type HubRefusalReason = 'token' | 'taken-over' | 'not-a-hub' | 'unreachable';

/** Why there is no connection to the hub. */
export class HubRefusal extends Error {
  override readonly name = 'HubRefusal';
  readonly reason: HubRefusalReason;
  /** After so many milliseconds the hub wants to be asked again. */
  readonly retryAfterMs: number | undefined;

  constructor(reason: HubRefusalReason, message: string, options: { retryAfterMs?: number | undefined; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** An HTTP answer instead of a WebSocket. */
export function refusalOfAnswer({ statusCode = 0, headers }: IncomingMessage, url: string): HubRefusal {
  // What stands before the hub, such as a proxy or a firewall, may answer 403 for reasons of its own.
  if (statusCode === 401) {
    return new HubRefusal(
      'token',
      `The hub at ${url} does not know this token. It may have been rotated, or the daemon disabled or removed`,
    );
  }
  if (statusCode === 429 || statusCode >= 500) {
    const seconds = Number(headers['retry-after'] ?? Number.NaN);
    const retryAfterMs = Number.isFinite(seconds) ? seconds * 1000 : undefined;
    return new HubRefusal('unreachable', `The hub at ${url} answered ${statusCode}: it cannot take daemons now`, { retryAfterMs });
  }
  return new HubRefusal('not-a-hub', `There is no hub at ${url}: the server there answered ${statusCode}`);
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name cannot be looked up',
  EHOSTUNREACH: 'there is no route to that host',
  ENETUNREACH: 'there is no route to that network',
  ECONNRESET: 'the connection was cut',
  ETIMEDOUT: 'it does not answer',
};

export function refusalOfError(error: Error & { code?: string }, url: string): HubRefusal {
  // One error for each address that was tried.
  const code = error.code ?? (error instanceof AggregateError && error.errors[0] instanceof Error ? codeOf(error.errors[0]) : '');
  return new HubRefusal('unreachable', `The hub at ${url} cannot be reached: ${WORDS[code] ?? error.message}`, { cause: error });
}

function codeOf(error: Error & { code?: string }): string {
  return error.code ?? '';
}

/** Why the hub closed a connection, when it closed it for good; null when another try may succeed. */
export function refusalOfClose(code: number): HubRefusal | null {
  if (code === CLOSE_CODES.tokenGone) {
    return new HubRefusal('token', 'The hub does not take this token any more: it was rotated, or the daemon disabled or removed');
  }
  if (code === CLOSE_CODES.takenOver) {
    return new HubRefusal('taken-over', 'Another process has connected with the token of this daemon: each needs a token of its own');
  }
  return null;
}
