import { Button, NativeSelect, Skeleton, Text, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import { TASK_STATUSES, type TaskStatus } from '#shared/tasks/transitions.ts';
import { callApi } from '../../api/call-api.ts';
import { listOf } from '../../api/records.ts';
import { taskSchema, type Task } from '../../api/tasks.ts';
import { Icon } from '../../parts/icon.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { navigate, PageLink } from '../../routing/navigation.tsx';
import classes from './overview.module.css';
import { TaskList } from './task-list.tsx';

const POLL_MS = 3000;
const FIRST = 20;
const MORE = 60;
/** The largest page of the API. */
const MAX_ROWS = 200;
const tasksSchema = listOf(taskSchema);

interface TaskFilter {
  /** Null for any status. */
  status: TaskStatus | null;
  count: number;
}

/** The running tasks, and the newest tasks, optionally of one status. */
export function Page(): ReactElement {
  const [filter, setFilter] = useState<TaskFilter>({ status: null, count: FIRST });
  const { data, error, refetch } = useQuery({
    queryKey: ['tasks', filter],
    queryFn: ({ signal }) => readTasks(filter, signal),
    refetchInterval: POLL_MS,
    placeholderData: keepPreviousData,
  });
  return (
    <div className="page">
      <div className={classes['head']}>
        <Title order={1} size="h2">
          Overview
        </Title>
        <Button leftSection={<Icon name="chat" size={16} />} onClick={() => navigate('/chat')}>
          New chat
        </Button>
      </div>
      {error === null ? null : <ProblemNote title="The tasks could not be read" error={error} onRetry={() => void refetch()} />}
      {data === undefined ? (
        error === null && <Skeleton height={240} radius="lg" />
      ) : (
        <TaskLists {...data} filter={filter} onFilter={setFilter} />
      )}
    </div>
  );
}

interface TasksShown {
  running: Task[];
  newest: Task[];
}

async function readTasks({ status, count }: TaskFilter, signal: AbortSignal): Promise<TasksShown> {
  const filter = status === null ? '' : `status=${status}&`;
  const [running, newest] = await Promise.all([
    callApi(tasksSchema, `/v1/tasks?status=running&limit=${FIRST}`, { signal }),
    callApi(tasksSchema, `/v1/tasks?${filter}limit=${count}`, { signal }),
  ]);
  return { running: running.items, newest: newest.items };
}

interface TaskListsProps extends TasksShown {
  filter: TaskFilter;
  onFilter: (filter: TaskFilter) => void;
}

function TaskLists({ running, newest, filter, onFilter }: TaskListsProps): ReactElement {
  if (newest.length === 0 && filter.status === null) return <FirstSteps />;
  const canShowMore = newest.length >= filter.count && filter.count < MAX_ROWS;
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
          <StatusPicker status={filter.status} onPick={(status) => onFilter({ status, count: FIRST })} />
        </div>
        <TaskList tasks={newest} whenEmpty="No task is in this status." />
        {canShowMore ? (
          <Button mt="md" variant="default" onClick={() => onFilter({ ...filter, count: Math.min(MAX_ROWS, filter.count + MORE) })}>
            Show more
          </Button>
        ) : null}
      </section>
    </>
  );
}

interface StatusPickerProps {
  /** Null for any status. */
  status: TaskStatus | null;
  onPick: (status: TaskStatus | null) => void;
}

/** Picks the status of the listed tasks. */
function StatusPicker({ status, onPick }: StatusPickerProps): ReactElement {
  return (
    <NativeSelect
      aria-label="Status"
      size="xs"
      value={status ?? ''}
      onChange={(event) => onPick(TASK_STATUSES.find((each) => each === event.currentTarget.value) ?? null)}
      data={[{ value: '', label: 'Any status' }, ...TASK_STATUSES.map((each) => ({ value: each, label: each.replaceAll('_', ' ') }))]}
    />
  );
}

const CURL = `curl "$MUSTER_URL/v1/tasks" -H "Authorization: Bearer $MUSTER_API_KEY" \\
  -H 'Content-Type: application/json' -d '{"agent":"echo","input":"Hello"}'`;

/** The first steps on an installation without tasks. */
function FirstSteps(): ReactElement {
  return (
    <section className="card">
      <Title order={2} size="h4">
        Nothing yet
      </Title>
      <Text mt="xs">
        <PageLink href="/chat">Write to an agent</PageLink>, or <PageLink href="/schedules">let one work at fixed times</PageLink>.
      </Text>
      <Text mt="md">From a terminal, on the machine of the fleet:</Text>
      <pre className={classes['command']} tabIndex={0}>
        npx muster send &quot;Hello&quot;
      </pre>
      <Text mt="md">
        From anywhere, with the address in <code>MUSTER_URL</code> and a key in <code>MUSTER_API_KEY</code>:
      </Text>
      <pre className={classes['command']} tabIndex={0}>
        {CURL}
      </pre>
      <Text mt="md">
        The <a href="/docs">API documentation</a> has the rest, and the <a href="/board">board</a> shows the queues.
      </Text>
    </section>
  );
}
