import { randomBytes } from 'node:crypto';
import { processNamespace, readProcess } from './process-table.ts';

/** The variable by which processes are known for those of an attempt: what they start inherits it. */
export const MARK_VARIABLE = 'MUSTER_ATTEMPT_MARK';

const SEPARATOR = '-';

/** Names one attempt of this process, and this process: `<namespace>-<pid>-<start>-<random>`. */
export function createMark(): string {
  return [ownerOf(process.pid), randomBytes(8).toString('hex')].join(SEPARATOR);
}

/** Whether the process that made the mark has ended. One of another container cannot be looked at from here, and counts as running. */
export function isOrphaned(mark: string): boolean {
  const [namespace, pid, startedAt] = mark.split(SEPARATOR);
  if (namespace === '' || namespace !== (processNamespace() ?? '')) return false;
  const maker = readProcess(Number(pid));
  return maker === null || String(maker.startedAt) !== startedAt;
}

function ownerOf(pid: number): string {
  return [processNamespace() ?? '', pid, readProcess(pid)?.startedAt ?? 0].join(SEPARATOR);
}
