import { MusterError } from '#shared/errors/index.ts';
import type { TaskRequest } from '#shared/tasks/index.ts';

/** What a caller may say of itself. The others are the system's word: a message, a webhook or a schedule came to it. */
const CALLERS = ['api', 'proactive', 'delegation'] as const;

/** Limits, queues and retries go by the source, so nobody says another's. Errors: `task.source-reserved`, `request.invalid`. */
export function assertCallersSource({ source, sourceId, parentTaskId }: TaskRequest): void {
  if (source !== undefined && !CALLERS.some((each) => each === source)) {
    throw new MusterError('task.source-reserved', `source: expected ${CALLERS.join(', ')}; "${source}" is given by Muster itself`, {
      details: { source, allowed: CALLERS },
    });
  }
  if (source === 'delegation' && parentTaskId === undefined)
    throw new MusterError('request.invalid', 'parentTaskId: expected the task that delegates, with source "delegation"');
  if (sourceId !== undefined && source !== 'proactive')
    throw new MusterError('request.invalid', 'sourceId: expected with source "proactive" only, as the trigger that asked');
}
