import { releaseOf, type Task, type TaskState, type TaskStatus } from '../../tasks/index.ts';
import { type LookupFilter, statusesOf } from '../read/lookups.ts';

/** A field of a task's metadata, and its value as text; an empty value is any. */
export interface MetadataPair {
  key: string;
  value: string;
}

/** What texts a task must hold. */
export interface TextFilter {
  /** Text that the input, output, id, session or error holds, in any case. */
  q?: string;
  /** All of them. */
  metadata?: readonly MetadataPair[];
}

export interface TaskFilter extends LookupFilter, TextFilter {
  /** Accepted at or after, and before; ms since the epoch. */
  since?: number;
  until?: number;
  /** False leaves out occurrences that were skipped, unless `status` names them. */
  skipped?: boolean;
  /** The code of the last failure. */
  code?: string;
  /** The worker of the last attempt. */
  worker?: string;
  /** The release of that worker. */
  release?: string;
}

/** Whether a task has every property and text that is given. */
export function fits({ body, state, output }: Task, filter: TaskFilter): boolean {
  const facts: [unknown, unknown][] = [
    [filter.agent, body.agent],
    [filter.source, body.source],
    [filter.session, body.session],
    [filter.schedule, body.scheduleId],
    [filter.correlation, body.correlationId],
    [filter.parent, body.parentTaskId],
    [filter.sourceId, body.sourceId ?? body.scheduleId],
  ];
  if (facts.some(([wanted, actual]) => wanted !== undefined && wanted !== actual)) return false;
  return stateFits(state, filter) && hasTexts({ body, state, output }, filter);
}

/** Whether a state has the status, code, worker and release that are given. */
function stateFits({ source, status, error, worker }: TaskState, filter: TaskFilter): boolean {
  if (filter.code !== undefined && error?.code !== filter.code) return false;
  return workerFits(worker, filter) && statusFits(status, source, filter);
}

/** Whether the last attempt ran on the worker, and under the release, that are given. */
export function workerFits(worker: string | undefined, filter: Pick<TaskFilter, 'worker' | 'release'>): boolean {
  if (filter.worker !== undefined && worker !== filter.worker) return false;
  return filter.release === undefined || releaseOf(worker) === filter.release;
}

/** Whether a task of this source has one of the statuses. */
export function statusFits(status: TaskStatus, source: string, filter: Pick<TaskFilter, 'status' | 'skipped'>): boolean {
  if (filter.status !== undefined) return statusesOf(filter.status).includes(status);
  return status !== 'skipped' || source !== 'schedule' || filter.skipped !== false;
}

/** Whether tasks have to be read to know whether they fit. */
export function hasTextFilter({ q, metadata = [] }: TextFilter): boolean {
  return q !== undefined || metadata.length > 0;
}

/** Whether a task holds every text that is given. */
export function hasTexts({ body, state, output }: Pick<Task, 'body' | 'state' | 'output'>, { q, metadata = [] }: TextFilter): boolean {
  if (!metadata.every((pair) => hasMetadata(body.metadata, pair))) return false;
  if (q === undefined) return true;
  return [body.id, body.input, body.session, output, state.error?.message].join('\n').toLowerCase().includes(q.toLowerCase());
}

function hasMetadata(metadata: Task['body']['metadata'], { key, value }: MetadataPair): boolean {
  if (metadata === null || !Object.hasOwn(metadata, key)) return false;
  const found = metadata[key];
  return value === '' || (typeof found === 'string' ? found : JSON.stringify(found)) === value;
}
