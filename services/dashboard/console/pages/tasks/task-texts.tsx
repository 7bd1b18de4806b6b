import { Button, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useDeferredValue, useRef, useState, type FormEvent, type ReactElement } from 'react';
import { isTerminal } from '#shared/tasks/transitions.ts';
import type { TaskWithProgress } from '#shared/client/openapi.gen.ts';
import { answerOf, api, randomKey } from '../../api/api.ts';
import { useHasPlainOutput } from '../../api/known-agents.ts';
import { toTask, type TaskRef } from '../../api/task-ref.ts';
import { ProblemNote } from '../../parts/notes/problem-note.tsx';
import { WarningNote } from '../../parts/notes/warning-note.tsx';
import { ScrollBox, useStickToEnd } from '../../parts/scroll-box.tsx';
import { JsonView } from '../../parts/text/json-view.tsx';
import { AgentText } from '../../parts/text/markdown.tsx';
import { TextView } from '../../parts/text/text-view.tsx';
import { PageLink } from '../../routing/navigation.tsx';
import { taskPath } from '../../routing/paths.ts';
import type { WrittenOutput } from './task-stream.ts';
import classes from './tasks.module.css';
import { useMaySubmit } from './use-task.ts';

interface TaskTextsProps {
  task: TaskWithProgress;
  written: WrittenOutput;
}

/** The input, the result and the data of a task, and its output where that does not stand elsewhere. */
export function TaskTexts({ task, written, hasOutput }: TaskTextsProps & { hasOutput: boolean }): ReactElement {
  return (
    <div className={classes['columns']}>
      <TextCard title="Input" text={task.input} />
      {hasOutput ? <TaskOutput task={task} written={written} /> : null}
      <JsonCard title="Result" value={task.result} />
      <JsonCard title="Context" value={task.context} />
      <JsonCard title="Metadata" value={task.metadata} />
    </div>
  );
}

function JsonCard({ title, value }: { title: string; value: unknown }): ReactElement | null {
  if (value === null || value === undefined) return null;
  return (
    <section className="card">
      <h2>{title}</h2>
      <JsonView value={value} label={title} />
    </section>
  );
}

/** The output of a task or, until it has one, the text written so far. */
export function TaskOutput({ task, written }: TaskTextsProps): ReactElement | null {
  const isPlain = useHasPlainOutput(task.agent);
  if (typeof task.output === 'string') return <TextCard title="Output" text={task.output} note={truncationOf(task)} isPlain={isPlain} />;
  if (isTerminal(task.status))
    return written.text === '' ? null : <TextCard title="What the last attempt wrote" text={written.text} isPlain={isPlain} />;
  // Only blanks have no lines to show either: those of a coding agent that has used tools alone.
  if (task.status !== 'running' && written.text.trim() === '') return null;
  return <GrowingCard title="Output so far" text={written.text} isPlain={isPlain} />;
}

interface TextCardProps {
  title: string;
  text: string;
  note?: string | null;
  isPlain?: boolean;
}

function TextCard({ title, text, note = null, isPlain = false }: TextCardProps): ReactElement {
  return (
    <section className="card">
      <h2>{title}</h2>
      <TextView text={text} label={title} isPlain={isPlain} />
      {note === null ? null : <WarningNote title="The answer is cut">{note}</WarningNote>}
    </section>
  );
}

/** Why an output is less than the model would have said; null for one that is not. */
function truncationOf({ isTruncated, finishReason }: TaskWithProgress): string | null {
  if (!isTruncated) return null;
  return finishReason === 'content_filter'
    ? 'A content filter of the provider cut the answer off.'
    : 'The model reached its limit of tokens, so the answer breaks off. The agent\u2019s maxOutputTokens raises it.';
}

/** Stays scrolled to its end, unless the person has scrolled up. */
function GrowingCard({ title, text, isPlain = false }: TextCardProps): ReactElement {
  const { box, content, isAtEnd, goToEnd } = useStickToEnd();
  const [isRaw, setRaw] = useState(false);
  // Each piece lays out the long text again, so typing takes precedence.
  const shown = useDeferredValue(text);
  return (
    <section className="card">
      <div className={classes['line']}>
        <h2>{title}</h2>
        <Button size="compact-xs" variant={isRaw ? 'light' : 'default'} aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
          Raw
        </Button>
        {isAtEnd ? null : (
          <Button size="compact-xs" variant="default" onClick={goToEnd}>
            To the end
          </Button>
        )}
      </div>
      <ScrollBox className={classes['said']} ref={box} label={title}>
        <div ref={content} className={classes['growing']}>
          {shown.trim() === '' ? (
            <p className="faint">Nothing yet.</p>
          ) : isRaw ? (
            <pre>{shown}</pre>
          ) : (
            <AgentText text={shown} isPlain={isPlain} />
          )}
        </div>
      </ScrollBox>
    </section>
  );
}

/** Sends a message to a running task. Input that its agent does not take becomes the next task. */
export function TaskInput({ taskRef, onSent }: { taskRef: TaskRef; onSent: () => void }): ReactElement | null {
  const [text, setText] = useState('');
  const key = useRef(randomKey());
  const send = useMutation({
    mutationFn: () =>
      answerOf(
        api.POST('/v1/tasks/{id}/input', {
          ...toTask(taskRef),
          body: { text },
          headers: { ...toTask(taskRef).headers, 'Idempotency-Key': key.current },
        }),
      ),
    onSuccess: () => {
      setText('');
      // Until the message is accepted, another try sends the same message.
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
            Sent as <PageLink href={taskPath({ id: send.data.id, tenant: taskRef.tenant })}>a message of its own</PageLink>, for the agent
            to take or for the next turn.
          </output>
        )}
      </div>
      {send.error === null ? null : <ProblemNote title="It was not sent" error={send.error} />}
    </form>
  );
}
