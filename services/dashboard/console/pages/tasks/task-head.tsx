import { Button, NativeSelect, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { retryAt } from '#shared/errors/gates.ts';
import { isTerminal } from '#shared/tasks/transitions.ts';
import type { TaskWithProgress, Why } from '#shared/client/openapi.gen.ts';
import { answerOf, api } from '../../api/api.ts';
import { type TaskRef, toTask } from '../../api/task-ref.ts';
import { usePausedAgent } from '../../parts/actions/use-paused-agent.ts';
import { CopyId, CopyMenu } from '../../parts/copy.tsx';
import { curlOf } from '../../parts/curl.ts';
import { Icon } from '../../parts/icon.tsx';
import { ProblemNote } from '../../parts/notes/problem-note.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { Age } from '../../parts/time.tsx';
import { navigate } from '../../routing/navigation.tsx';
import { taskPath } from '../../routing/paths.ts';
import { copyOf, RunAgain } from './run-again.tsx';
import classes from './task-head.module.css';
import taskClasses from './tasks.module.css';
import { useMaySubmit } from './use-task.ts';

interface TaskHeadProps {
  taskRef: TaskRef;
  task: TaskWithProgress;
  why: Why;
  /** Whether the stream is open. */
  isLive: boolean;
  onChanged: () => void;
}

/** A task's agent, status and progress, and its actions. */
export function TaskHead({ taskRef, task, why, isLive, onChanged }: TaskHeadProps): ReactElement {
  const maySubmit = useMaySubmit();
  return (
    <header className={classes['head']}>
      <div className={taskClasses['line']}>
        <Title order={1} size="h2">
          {task.agent}
        </Title>
        <StatusBadge status={task.status} />
        <span className="faint">
          accepted <Age at={task.createdAt} of="accepted" />
        </span>
        {isLive ? <span className={classes['live']}>live</span> : null}
        <div className={classes['actions']}>
          {maySubmit ? <TaskActions taskRef={taskRef} task={task} why={why} onChanged={onChanged} /> : null}
          <CopyMenu items={copiesOf(task)} />
        </div>
      </div>
      <p className={classes['id']}>
        <CopyId id={task.id} />
      </p>
      {task.progress && !isTerminal(task.status) ? <Progress progress={task.progress} /> : null}
    </header>
  );
}

function Progress({ progress }: { progress: NonNullable<TaskWithProgress['progress']> }): ReactElement {
  const { note, percent } = progress;
  const hasPercent = typeof percent === 'number';
  return (
    <div className={classes['progress']}>
      {hasPercent ? <progress max={100} value={percent} aria-label="Progress" /> : null}
      <span className="faint">{[hasPercent ? `${Math.round(percent)} %` : null, note].filter(Boolean).join(' · ')}</span>
    </div>
  );
}

type ActionProps = Omit<TaskHeadProps, 'isLive'>;

function TaskActions(props: ActionProps): ReactElement {
  const { taskRef, task, onChanged } = props;
  const { status } = task;
  const hasNotBegun = status === 'pending' || status === 'queued';
  return (
    <>
      {hasNotBegun ? <PriorityPicker taskRef={taskRef} priority={task.priority} onChanged={onChanged} /> : null}
      <RetryButton {...props} />
      <FromStepButton {...props} />
      {isTerminal(status) ? null : <CancelButton {...props} />}
      {taskRef.tenant === null ? <RunAgain task={task} /> : null}
    </>
  );
}

function copiesOf(task: TaskWithProgress): { text: string; value: string }[] {
  return [
    { text: 'Input', value: task.input },
    ...(task.output ? [{ text: 'Output', value: task.output }] : []),
    { text: 'Record as JSON', value: JSON.stringify(task, null, 2) },
    { text: 'Read it, as curl', value: curlOf({ path: `/v1/tasks/${task.id}` }) },
    { text: 'Submit it again, as curl', value: curlOf({ method: 'POST', path: '/v1/tasks', body: copyOf(task) }) },
  ];
}

function isMismatch({ status, error }: TaskWithProgress): boolean {
  return status === 'permanently_failed' && error?.code === 'JOURNAL_MISMATCH';
}

/** What a retry does to the task; null when there is none. */
function retryTextOf(task: TaskWithProgress, gate: string | undefined): string | null {
  const { status } = task;
  if (status === 'permanently_failed') return isMismatch(task) ? 'Start again' : 'Retry';
  if (status === 'failed' || status === 'timeout') return 'Retry now';
  const does = status === 'running' || isTerminal(status) || gate === undefined ? null : retryAt(gate);
  return does === null ? null : does === 'releases' ? 'Release all' : 'Retry now';
}

function RetryButton({ taskRef, task, why, onChanged }: ActionProps): ReactElement | null {
  const retry = useMutation({ mutationFn: () => answerOf(api.POST('/v1/tasks/{id}/retry', toTask(taskRef))), onSettled: onChanged });
  const paused = usePausedAgent(taskRef.tenant === null ? task.agent : null);
  const title = retryTextOf(task, why.reasons[0]?.gate);
  if (title === null) return null;
  return (
    <>
      <Button
        variant="default"
        size="sm"
        leftSection={<Icon name="play" size={14} />}
        loading={retry.isPending}
        onClick={() => retry.mutate()}
      >
        {title}
      </Button>
      {paused === null ? null : <span className="faint">{paused}</span>}
      {retry.error === null ? null : <ProblemNote title="It was not tried again" error={retry.error} />}
    </>
  );
}

/** Goes on, as a new task, from the step that a run met instead of another one. */
function FromStepButton({ taskRef, task, onChanged }: ActionProps): ReactElement | null {
  const fromStep = Number(task.error?.details?.['step']);
  const retry = useMutation({
    mutationFn: () => answerOf(api.POST('/v1/tasks/{id}/retry', { ...toTask(taskRef), body: { fromStep } })),
    onSuccess: ({ id }) => navigate(taskPath({ id, tenant: taskRef.tenant })),
    onError: onChanged,
  });
  if (!isMismatch(task) || !Number.isInteger(fromStep)) return null;
  return (
    <>
      <Button
        variant="default"
        size="sm"
        leftSection={<Icon name="play" size={14} />}
        loading={retry.isPending}
        onClick={() => retry.mutate()}
      >
        From step {fromStep}
      </Button>
      {retry.error === null ? null : <ProblemNote title="No task was made" error={retry.error} />}
    </>
  );
}

function CancelButton({ taskRef, onChanged }: ActionProps): ReactElement {
  const cancel = useMutation({ mutationFn: () => answerOf(api.POST('/v1/tasks/{id}/cancel', toTask(taskRef))), onSettled: onChanged });
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

const PRIORITY_NAMES: Readonly<Record<number, string>> = { 1: 'low', 5: 'normal', 8: 'high', 10: 'highest' };
const PRIORITY_CHOICES = Array.from({ length: 10 }, (_, index) => 10 - index).map((value) => ({
  value: String(value),
  label: `Priority ${value}${PRIORITY_NAMES[value] === undefined ? '' : ` (${PRIORITY_NAMES[value]})`}`,
}));

interface PriorityPickerProps {
  taskRef: TaskRef;
  priority: number;
  onChanged: () => void;
}

/** Changes the priority of a waiting task. */
function PriorityPicker({ taskRef, priority, onChanged }: PriorityPickerProps): ReactElement {
  const change = useMutation({
    mutationFn: (value: number) => answerOf(api.POST('/v1/tasks/{id}/priority', { ...toTask(taskRef), body: { priority: value } })),
    onSettled: onChanged,
  });
  return (
    <>
      <NativeSelect
        aria-label="Priority"
        size="sm"
        data={PRIORITY_CHOICES}
        value={String(change.isPending ? change.variables : priority)}
        disabled={change.isPending}
        onChange={({ currentTarget }) => change.mutate(Number(currentTarget.value))}
      />
      {change.error === null ? null : <ProblemNote title="The priority was not changed" error={change.error} />}
    </>
  );
}
