/** Between the name of a worker and the number of its process. No host name has it. */
const MARK = '+';

/** What records call the process of a worker in which suspects run. */
export function isolatedName(worker: string, number: number): string {
  return `${worker}${MARK}${number}`;
}

/** The worker that a process belongs to. */
export function workerOf(name: string): string {
  return name.split(MARK)[0] ?? name;
}
