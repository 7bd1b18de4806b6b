import type { ReactElement } from 'react';
import type { TaskError } from '../api/task-records.ts';
import { ScrollBox } from './scroll-box.tsx';
import classes from './tasks.module.css';

/** What a failure's details say, each part apart and folded: where it was thrown, what a program wrote to stderr, and the rest. */
export function Diagnostics({ details }: { details: TaskError['details'] }): ReactElement | null {
  if (!details) return null;
  const { stack, stderr, ...rest } = details;
  return (
    <>
      {typeof stderr === 'string' ? <Part title="End of stderr" text={stderr} isOpen /> : null}
      {typeof stack === 'string' ? <Part title="Stack" text={stack} /> : null}
      {Object.keys(rest).length > 0 ? <Part title="Details" text={JSON.stringify(rest, null, 2)} /> : null}
    </>
  );
}

function Part({ title, text, isOpen = false }: { title: string; text: string; isOpen?: boolean }): ReactElement {
  return (
    <details className={classes['part']} open={isOpen}>
      <summary>{title}</summary>
      <ScrollBox className={classes['said']} label={title}>
        <pre>{text}</pre>
      </ScrollBox>
    </details>
  );
}
