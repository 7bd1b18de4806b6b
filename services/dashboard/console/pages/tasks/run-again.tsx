import { Button, Modal, NativeSelect, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState, type ReactElement, type SubmitEvent } from 'react';
import type { TaskRequest, TaskWithProgress } from '#shared/client/openapi.gen.ts';
import { answerOf, api, randomKey } from '../../api/api.ts';
import { useAgentNames } from '../../api/known-agents.ts';
import { givenFiles } from '../../api/task-ref.ts';
import { Icon } from '../../parts/icon.tsx';
import { ProblemNote } from '../../parts/notes/problem-note.tsx';
import { navigate } from '../../routing/navigation.tsx';
import { taskPath } from '../../routing/paths.ts';
import classes from './tasks.module.css';

/** Opens a form that makes a new task of this one, with another input or agent. */
export function RunAgain({ task }: { task: TaskWithProgress }): ReactElement {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant="default" size="sm" leftSection={<Icon name="edit" size={14} />} onClick={() => setOpen(true)}>
        Run again
      </Button>
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        title="Run again with another input"
        size="lg"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <AgainForm task={task} />
      </Modal>
    </>
  );
}

function AgainForm({ task }: { task: TaskWithProgress }): ReactElement {
  const [input, setInput] = useState(task.input);
  const [agent, setAgent] = useState(task.agent);
  const names = useAgentNames();
  const key = useRef(randomKey());
  const submit = useMutation({
    mutationFn: () =>
      answerOf(api.POST('/v1/tasks', { body: copyOf(task, { input, agent }), headers: { 'Idempotency-Key': key.current } })),
    onSuccess: ({ id }) => navigate(taskPath({ id, tenant: null })),
  });
  const onSubmit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    submit.mutate();
  };
  const choices = names.includes(task.agent) ? names : [task.agent, ...names];
  return (
    <form className={classes['form']} onSubmit={onSubmit}>
      <NativeSelect label="Agent" data={[...choices]} value={agent} onChange={({ currentTarget }) => setAgent(currentTarget.value)} />
      <Textarea
        label="Input"
        autosize
        minRows={6}
        maxRows={20}
        value={input}
        onChange={({ currentTarget }) => setInput(currentTarget.value)}
      />
      <p className="faint">A new task with the same {sameParts(task)} and metadata. This one stays as it is.</p>
      {submit.error === null ? null : <ProblemNote title="It was not submitted" error={submit.error} />}
      <Button type="submit" loading={submit.isPending} disabled={input.trim() === ''}>
        Run it
      </Button>
    </form>
  );
}

function sameParts({ session, attachments }: TaskWithProgress): string {
  return ['priority', ...(session ? ['session'] : []), ...(attachments.length > 0 ? ['files'] : []), 'context'].join(', ');
}

/** The request that would make the task, with what a person changed. */
export function copyOf(task: TaskWithProgress, changes: Partial<Pick<TaskRequest, 'agent' | 'input'>> = {}): TaskRequest {
  const { agent, input, priority, session, context, metadata } = task;
  const { withinMs } = task.execution;
  const files = givenFiles(task);
  return {
    agent,
    input,
    priority,
    rerunOf: task.id,
    ...(withinMs === null ? {} : { within: withinMs }),
    ...(session ? { session } : {}),
    ...(context ? { context } : {}),
    ...(metadata ? { metadata } : {}),
    ...(files.length > 0 ? { attachments: files } : {}),
    ...changes,
  };
}
