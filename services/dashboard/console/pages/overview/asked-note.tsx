import type { ReactElement } from 'react';
import type { Now } from '#shared/client/openapi.gen.ts';
import { Count } from '../../parts/numbers.tsx';
import { Age } from '../../parts/time.tsx';
import { PageLink } from '../../routing/navigation.tsx';
import classes from './overview.module.css';

/** That runs wait for people, who have to go to them: nothing for no questions. */
export function AskedNote({ questions: { open, oldestAt } }: Pick<Now, 'questions'>): ReactElement | null {
  if (open === 0) return null;
  return (
    <p className={`card ${classes['asked']}`}>
      <PageLink href="/questions">
        <strong>
          <Count value={open} />
        </strong>{' '}
        {open === 1 ? 'question waits' : 'questions wait'} for an answer
      </PageLink>
      {oldestAt === null ? null : (
        <span className="faint">
          {open === 1 ? 'asked' : 'the oldest asked'} <Age at={oldestAt} of="asked" />
        </span>
      )}
    </p>
  );
}
