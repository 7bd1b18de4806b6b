const ERRNO = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOENT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);
const CLIENT_NAMES = new Set(['MaxRetriesPerRequestError', 'ClusterAllFailedError', 'AbortError']);
/** Replies by which a server says that it cannot serve now. The protocol has no codes apart from this first word. */
const REPLY = /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|MISCONF|OOM|BUSY|UNBLOCKED) /;
/** The client gives these no code, and `sendCommand` fails in its words. */
const CLIENT_TEXT = /^(Command timed out|Connection is closed|Socket timeout|Stream isn't writeable|None of startup nodes is available)/;

/** Whether an error means that Redis cannot be reached or cannot serve, as opposed to a mistake of ours. */
export function isRedisUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return ERRNO.has(code) || CLIENT_NAMES.has(error.name) || REPLY.test(error.message) || CLIENT_TEXT.test(error.message);
}
