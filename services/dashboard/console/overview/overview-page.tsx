import { Button, Skeleton, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import type { TaskStatus } from '#shared/tasks/transitions.ts';
import { callApi } from '../api/call-api.ts';
import { listOf, taskSchema, type Task } from '../api/records.ts';
import { Icon } from '../parts/icon.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { goTo } from '../routing/use-path.ts';
import { FirstSteps } from './first-steps.tsx';
import classes from './overview.module.css';
import { StatusPicker } from './status-picker.tsx';
import { TaskRow } from './task-row.tsx';

const LOOK_MS = 3000;
const FIRST = 20;
const MORE = 60;
/** What the API gives at once. */
const MAX_ROWS = 200;
const tasksSchema = listOf(taskSchema);

interface Wanted {
  /** Null for any. */
  status: TaskStatus | null;
  count: number;
}

/** What runs now, and the newest tasks, of one status if wanted. */
export function OverviewPage(): ReactElement {
  const [wanted, setWanted] = useState<Wanted>({ status: null, count: FIRST });
  const { data, error, refetch } = useQuery({
    queryKey: ['tasks', wanted],
    queryFn: ({ signal }) => readTasks(wanted, signal),
    refetchInterval: LOOK_MS,
    placeholderData: keepPreviousData,
  });
  return (
    <div className="page">
      <div className={classes['head']}>
        <Title order={1} size="h2">
          Overview
        </Title>
        <Button leftSection={<Icon name="chat" size={16} />} onClick={() => goTo('/chat')}>
          New chat
        </Button>
      </div>
      {error === null ? null : <ProblemNote title="The tasks could not be read" error={error} onRetry={() => void refetch()} />}
      {data === undefined ? (
        error === null && <Skeleton height={240} radius="lg" />
      ) : (
        <TaskLists {...data} wanted={wanted} onWant={setWanted} />
      )}
    </div>
  );
}

interface TasksShown {
  running: Task[];
  newest: Task[];
}

async function readTasks({ status, count }: Wanted, signal: AbortSignal): Promise<TasksShown> {
  const filter = status === null ? '' : `status=${status}&`;
  const [running, newest] = await Promise.all([
    callApi(tasksSchema, `/v1/tasks?status=running&limit=${FIRST}`, { signal }),
    callApi(tasksSchema, `/v1/tasks?${filter}limit=${count}`, { signal }),
  ]);
  return { running: running.items, newest: newest.items };
}

interface TaskListsProps extends TasksShown {
  wanted: Wanted;
  onWant: (wanted: Wanted) => void;
}

function TaskLists({ running, newest, wanted, onWant }: TaskListsProps): ReactElement {
  if (newest.length === 0 && wanted.status === null) return <FirstSteps />;
  const canShowMore = newest.length >= wanted.count && wanted.count < MAX_ROWS;
  return (
    <>
      <section className={classes['section']}>
        <Title order={2} size="h4">
          Running now
        </Title>
        <TaskList tasks={running} whenEmpty="Nothing runs at the moment." />
      </section>
      <section className={classes['section']}>
        <div className={classes['heading']}>
          <Title order={2} size="h4">
            Newest tasks
          </Title>
          <StatusPicker status={wanted.status} onPick={(status) => onWant({ status, count: FIRST })} />
        </div>
        <TaskList tasks={newest} whenEmpty="No task is in this status." />
        {canShowMore ? (
          <Button mt="md" variant="default" onClick={() => onWant({ ...wanted, count: Math.min(MAX_ROWS, wanted.count + MORE) })}>
            Show more
          </Button>
        ) : null}
      </section>
    </>
  );
}

function TaskList({ tasks, whenEmpty }: { tasks: Task[]; whenEmpty: string }): ReactElement {
  if (tasks.length === 0) return <p className="faint">{whenEmpty}</p>;
  return (
    <ul className={classes['tasks']}>
      {tasks.map((task) => (
        <TaskRow key={task.id} task={task} />
      ))}
    </ul>
  );
}
