import type { TaskState } from '../../tasks/index.ts';
import { idAt } from '../read/id-at.ts';

/** What a task stands by among those of its tenant and priority; see `ranksFrom`. */
type Standing = Pick<TaskState, 'createdAt' | 'ranksFrom'>;

const TIME_DIGITS = 15;

/** How the scripts write where a task stands among ready ones, as `ready_prefix` does: what comes before its id. */
export function standingText({ createdAt, ranksFrom = createdAt }: Standing): string {
  const times = ranksFrom < createdAt ? [ranksFrom, createdAt] : [createdAt];
  return times.map((time) => String(time).padStart(TIME_DIGITS, '0')).join('');
}

/** When a task was accepted, by such a text. */
export function acceptedAtOf(standing = ''): number {
  return Number(standing.slice(-TIME_DIGITS));
}

/** How the scripts write where a task stands in the backlog, as `backlog_member` does: what comes behind its class and rank. */
export function backlogPlace({ createdAt, ranksFrom = createdAt }: Standing, id: string): string {
  return ranksFrom < createdAt ? `${idAt(ranksFrom)}.${id}` : id;
}
