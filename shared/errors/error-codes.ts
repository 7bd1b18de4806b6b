/**
 * Every code a caller can meet, with the HTTP status it answers with and its title.
 * A caller branches on the code; the status and the title are for people and proxies.
 */
export const ERROR_CODES = {
  'request.malformed': { status: 400, title: 'The request is not well formed' },
  'request.invalid': { status: 422, title: 'The request does not fit its schema' },
  'request.too-large': { status: 413, title: 'The request is larger than allowed' },
  'request.unsupported-media-type': { status: 415, title: 'The content type is not supported' },
  'request.not-found': { status: 404, title: 'There is nothing at this address' },
  'auth.missing': { status: 401, title: 'A key is needed' },
  'auth.invalid': { status: 401, title: 'The key is not known' },
  'auth.forbidden': { status: 403, title: 'The key lacks the scope' },
  'auth.bad-signature': { status: 401, title: 'The signature does not match' },
  'auth.csrf': { status: 403, title: 'The request did not come from this site' },
  'tenant.disabled': { status: 403, title: 'The tenant is disabled' },
  'tenant.not-found': { status: 404, title: 'No such tenant' },
  'tenant.exists': { status: 409, title: 'The tenant exists already' },
  'key.not-found': { status: 404, title: 'No such key' },
  'task.not-found': { status: 404, title: 'No such task' },
  'task.wrong-state': { status: 409, title: 'The task is in another state' },
  'task.idempotency-conflict': { status: 409, title: 'The key was used for another body' },
  'task.no-input': { status: 409, title: 'The task takes no input' },
  'agent.unknown': { status: 422, title: 'No such agent' },
  'agent.not-found': { status: 404, title: 'No such agent' },
  'agent.operator-only': { status: 403, title: 'This agent comes from the configuration only' },
  'hook.not-found': { status: 404, title: 'No such hook' },
  'hook.disabled': { status: 404, title: 'The hook is disabled' },
  'queue.not-found': { status: 404, title: 'No such queue' },
  'limit.rate': { status: 429, title: 'Too many requests' },
  'limit.waiting': { status: 429, title: 'Too much is waiting already' },
  'limit.backpressure': { status: 429, title: 'The fleet is overloaded' },
  'unavailable.redis': { status: 503, title: 'Redis does not answer' },
  'unavailable.shutting-down': { status: 503, title: 'This process is shutting down' },
  'config.invalid': { status: 500, title: 'The configuration is wrong' },
  'internal.error': { status: 500, title: 'Something went wrong here' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;
