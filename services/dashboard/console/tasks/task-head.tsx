import { Button, CopyButton, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { isTerminal } from '#shared/tasks/transitions.ts';
import { cancelTask, retryTask, type TaskPlace, type TaskRecord } from '../api/tasks.ts';
import { Age } from '../parts/time.tsx';
import { Icon } from '../parts/icon.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { PriorityPicker } from './priority-picker.tsx';
import classes from './tasks.module.css';
import { useMaySubmit } from './use-task.ts';

export interface TaskHeadProps {
  place: TaskPlace;
  task: TaskRecord;
  /** Whether it shows what happens as it happens. */
  isLive: boolean;
  onChanged: () => void;
}

/** What a task is, where it stands, how far it is, and what one can do about it. */
export function TaskHead({ place, task, isLive, onChanged }: TaskHeadProps): ReactElement {
  const maySubmit = useMaySubmit();
  return (
    <header className={classes['head']}>
      <div className={classes['line']}>
        <Title order={1} size="h2">
          {task.agent}
        </Title>
        <StatusBadge status={task.status} />
        <span className="faint">
          <Age at={task.createdAt} />
        </span>
        {isLive ? <span className={classes['live']}>live</span> : null}
        {maySubmit ? <TaskActions place={place} task={task} onChanged={onChanged} /> : null}
      </div>
      <TaskId id={task.id} />
      {task.progress && !isTerminal(task.status) ? <Progress progress={task.progress} /> : null}
    </header>
  );
}

function TaskId({ id }: { id: string }): ReactElement {
  return (
    <p className={classes['id']}>
      <code className="faint">{id}</code>
      <CopyButton value={id}>
        {({ copied, copy }) => (
          <Button size="compact-xs" variant="default" onClick={copy}>
            {copied ? 'Copied' : 'Copy id'}
          </Button>
        )}
      </CopyButton>
    </p>
  );
}

function Progress({ progress }: { progress: NonNullable<TaskRecord['progress']> }): ReactElement {
  const { note, percent } = progress;
  const hasShare = typeof percent === 'number';
  return (
    <div className={classes['progress']}>
      {hasShare ? <progress max={100} value={percent} aria-label="Progress" /> : null}
      <span className="faint">{[hasShare ? `${Math.round(percent)} %` : null, note].filter(Boolean).join(' · ')}</span>
    </div>
  );
}

type ActionProps = Omit<TaskHeadProps, 'isLive'>;

function TaskActions(props: ActionProps): ReactElement {
  const { place, task, onChanged } = props;
  const { status } = task;
  const hasNotBegun = status === 'pending' || status === 'queued';
  return (
    <div className={classes['actions']}>
      {hasNotBegun ? <PriorityPicker place={place} priority={task.priority} onChanged={onChanged} /> : null}
      <RetryButton {...props} />
      {isTerminal(status) ? null : <CancelButton {...props} />}
    </div>
  );
}

function RetryButton({ place, task, onChanged }: ActionProps): ReactElement | null {
  const retry = useMutation({ mutationFn: () => retryTask(place), onSettled: onChanged });
  const waits = task.status === 'failed' || task.status === 'timeout';
  if (!waits && task.status !== 'permanently_failed') return null;
  return (
    <>
      <Button
        variant="default"
        size="sm"
        leftSection={<Icon name="play" size={14} />}
        loading={retry.isPending}
        onClick={() => retry.mutate()}
      >
        {waits ? 'Retry now' : 'Retry'}
      </Button>
      {retry.error === null ? null : <ProblemNote title="It was not tried again" error={retry.error} />}
    </>
  );
}

function CancelButton({ place, onChanged }: ActionProps): ReactElement {
  const cancel = useMutation({ mutationFn: () => cancelTask(place), onSettled: onChanged });
  return (
    <>
      <Button
        variant="default"
        size="sm"
        leftSection={<Icon name="stop" size={14} />}
        loading={cancel.isPending}
        disabled={cancel.isSuccess}
        onClick={() => cancel.mutate()}
      >
        {cancel.isSuccess ? 'Being stopped' : 'Cancel'}
      </Button>
      {cancel.error === null ? null : <ProblemNote title="It was not cancelled" error={cancel.error} />}
    </>
  );
}
