import { randomBytes } from 'node:crypto';
import { processNamespace, readProcess } from './process-table.ts';

/** The variable that marks the processes of an attempt: what they start inherits it. */
export const MARK_VARIABLE = 'MUSTER_ATTEMPT_MARK';

const SEPARATOR = '-';

/** Names one attempt, its fleet, and this process: `<fleet>-<namespace>-<pid>-<start>-<random>`. */
export function createMark(fleetId: string): string {
  const { pid } = process;
  const startedAt = readProcess(pid)?.startedAt ?? 0;
  return [fleetId, processNamespace() ?? '', pid, startedAt, randomBytes(8).toString('hex')].join(SEPARATOR);
}

/**
 * Whether the process of this fleet that made the mark has ended. One of another container cannot be seen from here, and counts as
 * running.
 */
export function isOrphaned(mark: string, fleetId: string): boolean {
  return mark.startsWith(fleetId + SEPARATOR) && isMakerGone(mark);
}

/** The same, whichever fleet's it is. */
export function isMakerGone(mark: string): boolean {
  if (!isFromHere(mark)) return false;
  const [, , pid, startedAt] = mark.split(SEPARATOR);
  const maker = readProcess(Number(pid));
  return maker === null || String(maker.startedAt) !== startedAt;
}

/** Whether the process that made the mark can be seen from here while it runs: it is of this container. */
export function isFromHere(mark: string): boolean {
  const namespace = mark.split(SEPARATOR)[1];
  return namespace !== '' && namespace === (processNamespace() ?? '');
}
