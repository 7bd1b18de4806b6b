import type { Ledger } from '../ledger/index.ts';
import { releaseOf } from '../tasks/index.ts';
import { type ScannedTask, scanTasks, type TaskSelection } from './scan-tasks.ts';

/** When and where tasks failed for good. */
export interface FailureTimes {
  /** Oldest first: the failures of one code in five minutes from `at`, ms since the epoch. */
  times: { at: number; code: string; count: number }[];
  /** The workers that ran the last attempts, the one with the most failures first. */
  workers: { worker: string; count: number }[];
  /** The same by the releases of these workers. */
  releases: { release: string; count: number }[];
}

const BUCKET_MS = 300_000;
/** Workers, and releases, at most; a fleet may have thousands. */
const MAX_LISTED = 50;
/** Tasks that are read where the index has counted the groups. */
const MAX_READ = 1000;

/** FailureCounts is responsible for adding up when and where tasks failed. */
export class FailureCounts {
  readonly #times = new Map<string, { at: number; code: string; count: number }>();
  readonly #workers = new Map<string, number>();

  add({ state: { error, worker, completedAt = 0 } }: ScannedTask): void {
    const { code = 'UNKNOWN' } = error ?? {};
    const at = completedAt - (completedAt % BUCKET_MS);
    const key = `${at} ${code}`;
    this.#times.set(key, { at, code, count: (this.#times.get(key)?.count ?? 0) + 1 });
    if (worker !== undefined) this.#workers.set(worker, (this.#workers.get(worker) ?? 0) + 1);
  }

  list(): FailureTimes {
    const releases = new Map<string, number>();
    for (const [worker, count] of this.#workers) {
      const release = releaseOf(worker);
      if (release !== null) releases.set(release, (releases.get(release) ?? 0) + count);
    }
    return {
      times: [...this.#times.values()].toSorted((a, b) => a.at - b.at),
      workers: largestCounts(this.#workers).map(([worker, count]) => ({ worker, count })),
      releases: largestCounts(releases).map(([release, count]) => ({ release, count })),
    };
  }
}

function largestCounts(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].toSorted(([, one], [, other]) => other - one).slice(0, MAX_LISTED);
}

/** When and where the newest of the selected tasks failed: at most a thousand, as far as `search.maxMs` reaches. */
export async function countNewest(ledger: Ledger, tenant: string, selection: TaskSelection): Promise<FailureTimes> {
  const endMs = performance.now() + ledger.settings.search.maxMs;
  const counts = new FailureCounts();
  let read = 0;
  for await (const batch of scanTasks(ledger, tenant, selection, {})) {
    for (const task of batch.tasks) counts.add(task);
    read += batch.read;
    if (read >= MAX_READ || performance.now() >= endMs) break;
  }
  return counts.list();
}
