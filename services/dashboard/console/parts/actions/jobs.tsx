import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore, type ReactElement } from 'react';
import type { Action, ActionRequest } from '#shared/client/openapi.gen.ts';
import { answerOf, api, byId } from '../../api/api.ts';
import { problemText } from '../../api/api-problem.ts';
import { countText } from '../numbers.tsx';
import type { ChangedTasks } from './changed-tasks.ts';
import classes from './actions.module.css';
import { notify } from './notices.tsx';
import { createStore } from './store.ts';

type TaskAction = ActionRequest['action'];

const POLL_MS = 1000;
const DOING: Readonly<Record<TaskAction, string>> = { retry: 'Retrying', cancel: 'Cancelling', discard: 'Discarding' };
const DONE: Readonly<Record<TaskAction, string>> = { retry: 'retried', cancel: 'cancelled', discard: 'discarded' };

interface Job {
  readonly record: Action;
  /** Where a person finds its tasks when it has ended. */
  readonly link: ChangedTasks;
}

const jobs = createStore<readonly Job[]>([]);

/** Shows the progress of an action upon many tasks on every page until it has ended. */
export function showJob(job: Job): void {
  jobs.change((before) => [...before, job]);
}

/** The actions that this browser started and that run; the shell shows them. */
export function Jobs(): ReactElement {
  const shown = useSyncExternalStore(jobs.subscribe, jobs.read);
  return (
    <>
      {shown.map((job) => (
        <JobProgress key={job.record.id} first={job.record} link={job.link} />
      ))}
    </>
  );
}

function JobProgress({ first, link }: { first: Action; link: ChangedTasks }): ReactElement {
  const queries = useQueryClient();
  const { data: job = first } = useQuery({
    queryKey: ['actions', first.id],
    queryFn: ({ signal }) => answerOf(api.GET('/v1/tasks/actions/{id}', { ...byId(first.id), signal })),
    refetchInterval: POLL_MS,
  });
  const { status } = job;
  const hasEnded = status === 'completed' || status === 'cancelled' || status === 'failed';
  useEffect(() => {
    if (!hasEnded) return;
    jobs.change((before) => before.filter(({ record }) => record.id !== job.id));
    notify({ ...outcomeOf(job), link });
    void queries.invalidateQueries();
  }, [hasEnded, job, link, queries]);
  const stop = (): void => {
    answerOf(api.POST('/v1/tasks/actions/{id}/cancel', byId(job.id))).catch((error: unknown) =>
      notify({ text: problemText(error), tone: 'bad' }),
    );
  };
  const settled = job.done + job.skipped + job.failed;
  const text = `${DOING[job.action]} ${countText(settled)} of ${countText(Math.max(job.matched, settled))}`;
  return (
    <div className={classes['job']}>
      <div className={classes['line']}>
        <span>{text}</span>
        <Button size="compact-xs" variant="default" disabled={status === 'cancelling'} onClick={stop}>
          Stop
        </Button>
      </div>
      <progress aria-label={text} max={Math.max(1, job.matched)} value={settled} />
    </div>
  );
}

function outcomeOf({ action, status, done, skipped, failed, error }: Action): Parameters<typeof notify>[0] {
  const parts = [
    `${countText(done)} ${done === 1 ? 'task' : 'tasks'} ${DONE[action]}`,
    ...(skipped > 0 ? [`${countText(skipped)} had changed`] : []),
    ...(failed > 0 ? [`${countText(failed)} failed`] : []),
    ...(error ? [error] : []),
    ...(status === 'cancelled' ? ['stopped'] : []),
  ];
  return { text: parts.join(', '), tone: failed > 0 || status === 'failed' ? 'bad' : 'good' };
}
