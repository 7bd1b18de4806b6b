import { useId, type ReactElement, type ReactNode } from 'react';
import classes from './layout.module.css';

interface PanelProps {
  title: string;
  /** Beside the title. */
  actions?: ReactNode;
  children: ReactNode;
}

/** A card with a heading. */
export function Panel({ title, actions, children }: PanelProps): ReactElement {
  const id = useId();
  return (
    <section className={`card ${classes['panel']}`} aria-labelledby={id}>
      <div className={classes['head']}>
        <h2 id={id}>{title}</h2>
        {actions === undefined ? null : <div className={classes['actions']}>{actions}</div>}
      </div>
      {children}
    </section>
  );
}
