import { useSyncExternalStore, type ReactElement } from 'react';
import { problemText } from '../../api/records.ts';
import { countText } from '../numbers.tsx';
import classes from './actions.module.css';
import { notify } from './notices.tsx';
import { createStore } from './store.ts';

interface LocalJob {
  readonly id: number;
  readonly text: string;
  readonly total: number;
  readonly done: number;
}

interface LocalJobOptions {
  /** `Retry 3 tasks`. */
  text: string;
  ids: readonly string[];
  run: (id: string) => Promise<unknown>;
}

const jobs = createStore<readonly LocalJob[]>([]);
let nextId = 1;
const CONCURRENCY = 4;

/** Makes one call per id, a few at a time, with its progress in the corner. Resolves when all have ended. */
export async function runForEach({ text, ids, run }: LocalJobOptions): Promise<void> {
  const id = nextId;
  nextId += 1;
  const waiting = [...ids];
  const problems: string[] = [];
  jobs.change((before) => [...before, { id, text, total: ids.length, done: 0 }]);
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      await run(next).catch((error: unknown) => problems.push(problemText(error)));
      jobs.change((before) => before.map((job) => (job.id === id ? Object.assign({}, job, { done: job.done + 1 }) : job)));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  jobs.change((before) => before.filter((job) => job.id !== id));
  const first = problems[0];
  if (first === undefined) notify({ text: `${text}: done`, tone: 'good' });
  else notify({ text: `${text}: ${countText(problems.length)} failed. ${first}`, tone: 'bad' });
}

/** The progress of these calls; the shell shows it. */
export function LocalJobs(): ReactElement {
  const shown = useSyncExternalStore(jobs.subscribe, jobs.read);
  return (
    <>
      {shown.map(({ id, text, done, total }) => (
        <div key={id} className={classes['job']}>
          <span>
            {text}: {done} of {total}
          </span>
          <progress aria-label={text} max={total} value={done} />
        </div>
      ))}
    </>
  );
}
