import { Button, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState, type FormEvent, type ReactElement } from 'react';
import { sendInput, type TaskPlace } from '../api/tasks.ts';
import { randomKey } from '../parts/random-key.ts';
import { ProblemNote } from '../parts/problem-note.tsx';
import { PageLink } from '../routing/page-link.tsx';
import { taskPath } from './task-path.ts';
import classes from './tasks.module.css';
import { useMaySubmit } from './use-task.ts';

/** Writes to a task while it runs. What its agent does not take becomes a task after it. */
export function TaskInput({ place, onSent }: { place: TaskPlace; onSent: () => void }): ReactElement | null {
  const [text, setText] = useState('');
  const key = useRef(randomKey());
  const send = useMutation({
    mutationFn: () => sendInput(place, text, key.current),
    onSuccess: () => {
      setText('');
      // Until it was taken, another try is the same message.
      key.current = randomKey();
      onSent();
    },
  });
  if (!useMaySubmit()) return null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (text.trim() !== '') send.mutate();
  };
  return (
    <form className={`card ${classes['form']}`} onSubmit={submit}>
      <Textarea
        label="Write to it while it runs"
        autosize={false}
        rows={2}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      <div className={classes['line']}>
        <Button type="submit" size="sm" loading={send.isPending} disabled={text.trim() === ''}>
          Send
        </Button>
        {send.data === undefined ? null : (
          <output className="faint">
            Sent as <PageLink href={taskPath({ id: send.data.id, tenant: place.tenant })}>a message of its own</PageLink>, for the agent to
            take or for the next turn.
          </output>
        )}
      </div>
      {send.error === null ? null : <ProblemNote title="It was not sent" error={send.error} />}
    </form>
  );
}
