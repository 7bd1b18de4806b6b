import { Button, Skeleton, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactElement, ReactNode } from 'react';
import { callApi } from '../api/call-api.ts';
import { listOf, taskSchema, type Task } from '../api/records.ts';
import { Icon } from '../parts/icon.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { goTo } from '../routing/go-to.ts';
import { FirstSteps } from './first-steps.tsx';
import classes from './overview.module.css';
import { TaskRow } from './task-row.tsx';

const LOOK_MS = 3000;
const SHOWN = 20;
const tasksSchema = listOf(taskSchema);

/** What runs now, and the newest tasks. */
export function OverviewPage(): ReactElement {
  const { data, error, refetch } = useQuery({
    queryKey: ['tasks'],
    queryFn: ({ signal }) => readTasks(signal),
    refetchInterval: LOOK_MS,
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
      {data === undefined ? error === null && <Skeleton height={240} radius="lg" /> : <TaskLists {...data} />}
    </div>
  );
}

interface TasksShown {
  running: Task[];
  newest: Task[];
}

async function readTasks(signal: AbortSignal): Promise<TasksShown> {
  const [running, newest] = await Promise.all([
    callApi(tasksSchema, `/v1/tasks?status=running&limit=${SHOWN}`, { signal }),
    callApi(tasksSchema, `/v1/tasks?limit=${SHOWN}`, { signal }),
  ]);
  return { running: running.items, newest: newest.items };
}

function TaskLists({ running, newest }: TasksShown): ReactElement {
  if (newest.length === 0) return <FirstSteps />;
  return (
    <>
      <TaskList title="Running now" tasks={running} whenEmpty={<p className="faint">Nothing runs at the moment.</p>} />
      <TaskList title="Newest tasks" tasks={newest} whenEmpty={null} />
    </>
  );
}

function TaskList({ title, tasks, whenEmpty }: { title: string; tasks: Task[]; whenEmpty: ReactNode }): ReactElement {
  return (
    <section className={classes['section']}>
      <Title order={2} size="h4">
        {title}
      </Title>
      {tasks.length === 0 ? (
        whenEmpty
      ) : (
        <ul className={classes['tasks']}>
          {tasks.map((task) => (
            <TaskRow key={task.id} task={task} />
          ))}
        </ul>
      )}
    </section>
  );
}
