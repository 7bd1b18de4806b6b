import { z } from 'zod';
import { MusterError } from '../../errors/index.ts';
import type { TaskRequest } from '../../tasks/index.ts';

/** The sources that a caller may name. Muster itself gives the others: a message, a webhook or a schedule came to it. */
const CALLERS_SOURCES = ['api', 'proactive', 'delegation'] as const;

/** Limits, queues and retries depend on the source, so no caller claims another's. Errors: `task.source-reserved`, `request.invalid`. */
export function assertCallersSource({ source, sourceId, parentTaskId }: TaskRequest): void {
  if (source !== undefined && !CALLERS_SOURCES.some((each) => each === source)) {
    throw new MusterError('task.source-reserved', `source: expected ${CALLERS_SOURCES.join(', ')}; "${source}" is given by Muster itself`, {
      details: { source, allowed: CALLERS_SOURCES },
    });
  }
  if (source === 'delegation' && parentTaskId === undefined)
    throw new MusterError('request.invalid', 'parentTaskId: expected the task that delegates, with source "delegation"');
  if (sourceId !== undefined && source !== 'proactive')
    throw new MusterError('request.invalid', 'sourceId: expected with source "proactive" only, as the trigger that asked');
}

export const idempotencyKeySchema = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'expected 1 to 255 visible ASCII characters')
  .meta({ description: 'The same key with the same request gives the same task, for a day.' });

/**
 * The ledger's key for a caller's. Its prefix keeps it apart from the keys of webhooks and schedules, which no caller may take. A visitor
 * takes no key of the tenant, nor of another session than the one that is visited: visitors do not know each other, and choose the same keys.
 */
export function idempotencyOf(key: string | undefined, visited?: string): { idempotencyKey?: string } {
  if (key === undefined) return {};
  // The length says where the session's id ends: both it and a key may have colons.
  return { idempotencyKey: visited === undefined ? `api:${key}` : `visit:${visited.length}:${visited}:${key}` };
}
