import { Button } from '@mantine/core';
import type { ReactElement } from 'react';
import { isTerminal } from '#shared/tasks/transitions.ts';
import type { TaskRecord } from '../api/tasks.ts';
import { useStickToEnd } from '../chat/messages/use-stick-to-end.ts';
import { ScrollBox } from './scroll-box.tsx';
import classes from './tasks.module.css';
import type { WrittenOutput } from './written-output.ts';

/** What a task has answered or, until then, what it has written so far. */
export function TaskOutput({ task, written }: { task: TaskRecord; written: WrittenOutput }): ReactElement | null {
  if (typeof task.output === 'string') return <TextCard title="Output" text={task.output} />;
  if (isTerminal(task.status)) return written.text === '' ? null : <TextCard title="What the last attempt wrote" text={written.text} />;
  if (task.status !== 'running' && written.text === '') return null;
  return <GrowingCard title="Output so far" text={written.text} />;
}

export function TextCard({ title, text }: { title: string; text: string }): ReactElement {
  return (
    <section className="card">
      <h2>{title}</h2>
      <ScrollBox className={classes['said']} label={title}>
        <pre>{text === '' ? '(empty)' : text}</pre>
      </ScrollBox>
    </section>
  );
}

/** Follows its end, unless the person has scrolled up. */
function GrowingCard({ title, text }: { title: string; text: string }): ReactElement {
  const { box, content, isAtEnd, goToEnd } = useStickToEnd();
  return (
    <section className="card">
      <div className={classes['line']}>
        <h2>{title}</h2>
        {isAtEnd ? null : (
          <Button size="compact-xs" variant="default" onClick={goToEnd}>
            To the end
          </Button>
        )}
      </div>
      <ScrollBox className={classes['said']} ref={box} label={title}>
        <div ref={content}>
          <pre>{text === '' ? 'Nothing yet.' : text}</pre>
        </div>
      </ScrollBox>
    </section>
  );
}
