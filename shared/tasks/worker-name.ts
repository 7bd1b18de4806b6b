/** Ends the part of a worker's name in front of its release. No release has it once it is escaped. */
const MARK = '@';

/** Between the name of a worker and the number of one of its processes. No release has it once it is escaped, and no host name has it. */
const SEPARATOR = '+';

interface NamedProcess {
  host: string;
  pid: number;
  /** Of a hub. */
  role?: 'hub';
  /** Tells processes with one number on one machine apart. */
  random: string;
  /** What it runs, as `MUSTER_RELEASE` says. */
  release: string;
}

/**
 * The name of a process that runs attempts. Records have no other word of its release, which costs no state of a task a field. It has no
 * spaces, commas or slashes: they separate names in states, messages and members of sets.
 */
export function workerName({ host, pid, role, random, release }: NamedProcess): string {
  const machine = host.replaceAll(/\s/g, '-');
  const parts = role === undefined ? [machine, pid, random] : [machine, role, pid, random];
  return `${parts.join('-')}${MARK}${encodeURIComponent(release)}`;
}

/** What records call the process of a worker in which suspects run. */
export function isolatedName(worker: string, number: number): string {
  return `${worker}${SEPARATOR}${number}`;
}

/** The worker that a process belongs to. */
export function workerOf(name: string): string {
  return name.split(SEPARATOR)[0] ?? name;
}

/** The release of the worker or process with this name; null where its name has none, as in records of earlier versions. */
export function releaseOf(worker: string | undefined): string | null {
  const at = worker?.lastIndexOf(MARK) ?? -1;
  if (worker === undefined || at < 0) return null;
  const escaped = workerOf(worker.slice(at + MARK.length));
  try {
    return decodeURIComponent(escaped);
  } catch {
    return escaped;
  }
}
