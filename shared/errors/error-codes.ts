import { CodedError } from './coded-error.ts';

/** `later`: the same request may succeed later; `never`: only after the request, or what it is about, has changed. */
type RetryClass = 'later' | 'never';

/**
 * Every code a caller can meet, with the HTTP status it answers with, whether to send the same request again, and its title.
 * A caller branches on the code; the status and the title are for people and proxies.
 */
export const ERROR_CODES = {
  'request.malformed': { status: 400, retry: 'never', title: 'The request is not well formed' },
  'request.invalid': { status: 422, retry: 'never', title: 'The request does not fit its schema' },
  'request.too-large': { status: 413, retry: 'never', title: 'The request is larger than allowed' },
  'request.headers-too-large': { status: 431, retry: 'never', title: 'The address or the headers are larger than allowed' },
  'request.timeout': { status: 408, retry: 'later', title: 'The request did not arrive in time' },
  'request.unsupported-media-type': { status: 415, retry: 'never', title: 'The content type is not supported' },
  'request.upgrade-required': { status: 426, retry: 'never', title: 'This address takes WebSockets only' },
  'request.method-not-allowed': { status: 405, retry: 'never', title: 'The address does not take this method' },
  'request.not-found': { status: 404, retry: 'never', title: 'There is nothing at this address' },
  'auth.missing': { status: 401, retry: 'never', title: 'A key is needed' },
  'auth.invalid': { status: 401, retry: 'never', title: 'The key is not known' },
  'auth.forbidden': { status: 403, retry: 'never', title: 'The key lacks the scope' },
  'auth.bad-signature': { status: 401, retry: 'never', title: 'The signature does not match' },
  'auth.csrf': { status: 403, retry: 'never', title: 'The request did not come from this site' },
  'auth.claim-missing': { status: 403, retry: 'never', title: 'The provider left out the claim that gives roles' },
  'auth.no-role': { status: 403, retry: 'never', title: 'The person has no role here' },
  'auth.sign-in-failed': { status: 401, retry: 'never', title: 'The sign-in at the provider failed' },
  'tenant.disabled': { status: 403, retry: 'never', title: 'The tenant is disabled' },
  'tenant.ended': { status: 410, retry: 'never', title: 'The tenant was deleted' },
  'tenant.not-found': { status: 404, retry: 'never', title: 'No such tenant' },
  'tenant.exists': { status: 409, retry: 'never', title: 'The tenant exists already' },
  'key.not-found': { status: 404, retry: 'never', title: 'No such key' },
  'person.not-found': { status: 404, retry: 'never', title: 'No such person' },
  'visitor.not-found': { status: 404, retry: 'never', title: 'No such visitor' },
  'task.not-found': { status: 404, retry: 'never', title: 'No such task' },
  'task.wrong-state': { status: 409, retry: 'never', title: 'The task is in another state' },
  'task.idempotency-conflict': { status: 409, retry: 'never', title: 'The key was used for another body' },
  'task.not-running': { status: 409, retry: 'never', title: 'The task does not run' },
  'task.source-reserved': { status: 403, retry: 'never', title: 'The source is given by Muster itself' },
  'task.takes-no-input': { status: 409, retry: 'never', title: 'The task takes no input' },
  'journal.not-found': { status: 404, retry: 'never', title: 'No such entry of the journal' },
  'question.not-found': { status: 404, retry: 'never', title: 'No such question' },
  'question.answered': { status: 409, retry: 'never', title: 'The question was answered before' },
  'question.closed': { status: 409, retry: 'never', title: 'The question is no longer open' },
  'question.forbidden': { status: 403, retry: 'never', title: 'The question is for others' },
  'question.invalid': { status: 422, retry: 'never', title: 'The answer does not fit the question' },
  'upload.not-found': { status: 422, retry: 'never', title: 'No such upload' },
  'artifact.not-found': { status: 404, retry: 'never', title: 'No such artifact' },
  'file.link-invalid': { status: 404, retry: 'never', title: 'The address of the file is wrong or has expired' },
  'file.attempt-over': { status: 409, retry: 'never', title: 'The attempt that may add files is over' },
  'checkpoint.key-invalid': { status: 404, retry: 'never', title: 'The key is of no attempt of this task' },
  'checkpoint.attempt-over': { status: 409, retry: 'never', title: 'The attempt that may keep checkpoints is over' },
  'checkpoint.too-large': { status: 413, retry: 'never', title: 'The checkpoint is larger than allowed' },
  'task.runaway': { status: 422, retry: 'never', title: 'The tasks that delegate to each other were cut' },
  'task.loop': { status: 422, retry: 'never', title: 'The sub-task would lead in a circle' },
  'action.not-found': { status: 404, retry: 'never', title: 'No such action' },
  'action.busy': { status: 409, retry: 'later', title: 'Others change the action at the same time' },
  'agent.unknown': { status: 422, retry: 'never', title: 'No such agent' },
  'alert.failed': { status: 502, retry: 'never', title: 'An alert was not taken' },
  'erasure.not-found': { status: 404, retry: 'never', title: 'No such erasure' },
  'backup.damaged': { status: 500, retry: 'never', title: 'The backup is damaged' },
  'backup.refused': { status: 409, retry: 'never', title: 'The backup cannot be restored there' },
  'alert.not-found': { status: 404, retry: 'never', title: 'No such alert' },
  'group.not-found': { status: 404, retry: 'never', title: 'No such group of workers' },
  'agent.not-found': { status: 404, retry: 'never', title: 'No such agent' },
  'agent.operator-only': { status: 403, retry: 'never', title: 'This agent comes from the configuration only' },
  'agent.exists': { status: 412, retry: 'never', title: 'An agent of this name exists already' },
  'agent.busy': { status: 409, retry: 'later', title: 'Others change the agent at the same time' },
  'budget.exists': { status: 412, retry: 'never', title: 'A budget of this name exists already' },
  'budget.not-found': { status: 404, retry: 'never', title: 'No such budget' },
  'budget.operator-only': { status: 403, retry: 'never', title: 'This budget comes from the configuration only' },
  'daemon.not-found': { status: 404, retry: 'never', title: 'No such daemon' },
  'daemon.name-taken': { status: 409, retry: 'never', title: 'Another daemon has this name' },
  'hook.delivery-not-found': { status: 404, retry: 'never', title: 'No such delivery of a hook is kept' },
  'hook.handshake-refused': { status: 403, retry: 'never', title: 'The handshake is not that of the hook' },
  'hook.not-replayable': { status: 409, retry: 'never', title: 'The delivery cannot be replayed' },
  'hook.not-found': { status: 404, retry: 'never', title: 'No such hook' },
  'delivery.not-found': { status: 404, retry: 'never', title: 'No such delivery' },
  'delivery.wrong-state': { status: 409, retry: 'never', title: 'The delivery is in another state' },
  'callback.endpoint-not-found': { status: 404, retry: 'never', title: 'No such failing endpoint' },
  'schedule.unreadable': { status: 422, retry: 'never', title: 'The rule cannot be read' },
  'schedule.unknown-zone': { status: 422, retry: 'never', title: 'No such time zone' },
  'schedule.platform-off': { status: 422, retry: 'never', title: 'The chat platform is not on' },
  'schedule.range-too-large': { status: 422, retry: 'never', title: 'The range has too many occurrences' },
  'schedule.not-found': { status: 404, retry: 'never', title: 'No such schedule' },
  'schedule.wrong-state': { status: 409, retry: 'never', title: 'The schedule is in another state' },
  'limits.busy': { status: 409, retry: 'later', title: "Others change the fleet's limits at the same time" },
  'tenant.busy': { status: 409, retry: 'later', title: 'Others change the tenant at the same time' },
  'hook.busy': { status: 409, retry: 'later', title: 'Others change the hook at the same time' },
  'daemon.busy': { status: 409, retry: 'later', title: 'Others change the daemon at the same time' },
  'schedule.busy': { status: 409, retry: 'later', title: 'Others change the schedule at the same time' },
  'schedule.idempotency-conflict': { status: 409, retry: 'never', title: 'The key was used for another schedule' },
  'record.unreadable': { status: 500, retry: 'never', title: 'The record cannot be read by this version' },
  'seal.key-lost': { status: 500, retry: 'never', title: 'It is sealed with a key that is not here' },
  'worker.not-found': { status: 404, retry: 'never', title: 'No such worker' },
  'finding.not-found': { status: 404, retry: 'never', title: 'No such finding' },
  'queue.not-found': { status: 404, retry: 'never', title: 'No such queue' },
  'limit.rate': { status: 429, retry: 'later', title: 'Too many requests' },
  'limit.budget': { status: 429, retry: 'later', title: 'A budget is used up' },
  'limit.streams': { status: 429, retry: 'later', title: 'Too many event streams' },
  'limit.bodies': { status: 429, retry: 'later', title: 'Too many request bodies at once' },
  'limit.actions': { status: 429, retry: 'later', title: 'Too many actions are under way' },
  'limit.pressure': { status: 429, retry: 'later', title: 'There is too much work for what can wait' },
  'limit.storage': { status: 429, retry: 'later', title: 'Too much is stored already' },
  'limit.waiting': { status: 429, retry: 'later', title: 'Too much is waiting already' },
  'limit.visitors': { status: 429, retry: 'later', title: 'Too many visitor tokens' },
  'limit.daemons': { status: 429, retry: 'later', title: 'Too many daemons' },
  'unavailable.redis': { status: 503, retry: 'later', title: 'Redis does not answer' },
  'unavailable.memory': { status: 503, retry: 'later', title: 'Redis is nearly full' },
  'unavailable.fsync': { status: 503, retry: 'later', title: 'Redis did not confirm that it is on disk' },
  'unavailable.files': { status: 503, retry: 'later', title: 'The storage of files does not answer' },
  'unavailable.provider': { status: 503, retry: 'later', title: 'The identity provider does not answer' },
  'unavailable.chat': { status: 503, retry: 'later', title: 'The chat message was not taken in time' },
  'unavailable.shutting-down': { status: 503, retry: 'later', title: 'This process is shutting down' },
  'config.invalid': { status: 500, retry: 'never', title: 'The configuration is wrong' },
  'internal.error': { status: 500, retry: 'never', title: 'Something went wrong here' },
} as const satisfies Record<string, { status: number; retry: RetryClass; title: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** What a request that makes a task may be refused with for the bounds of its tenant and of the fleet. */
export const LIMIT_ERRORS = [
  'limit.waiting',
  'limit.pressure',
  'limit.budget',
  'limit.storage',
  'unavailable.memory',
] as const satisfies readonly ErrorCode[];

/** The one error that crosses a boundary of this product: a stable code, a sentence, and details. Its `retryAfterMs` becomes `Retry-After`. */
export class MusterError extends CodedError<ErrorCode> {
  override readonly name = 'MusterError';
}

/** Whether a value is a MusterError with this code; reads the code, so that it also holds across processes. */
export function hasCode(error: unknown, code: ErrorCode): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
