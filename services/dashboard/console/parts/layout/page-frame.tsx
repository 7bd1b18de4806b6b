import { Title } from '@mantine/core';
import { useEffect, type ReactElement, type ReactNode } from 'react';
import classes from './layout.module.css';

interface PageFrameProps {
  title: string;
  /** Beside the title: buttons. */
  actions?: ReactNode;
  /** Beside the title: a status or a number. */
  note?: ReactNode;
  /** `reading` keeps the lines of texts short. */
  width?: 'full' | 'reading';
  children: ReactNode;
}

/** The frame of a page's content: its heading, which also names the window, and its actions. */
export function PageFrame({ title, actions, note, width = 'full', children }: PageFrameProps): ReactElement {
  useEffect(() => {
    document.title = `${title} · Muster`;
  }, [title]);
  return (
    <div className={`${classes['page']} ${width === 'reading' ? classes['reading'] : ''}`}>
      <div className={classes['head']}>
        <Title order={1} size="h3">
          {title}
        </Title>
        {note === undefined ? null : <div className="faint">{note}</div>}
        {actions === undefined ? null : <div className={classes['actions']}>{actions}</div>}
      </div>
      {children}
    </div>
  );
}
