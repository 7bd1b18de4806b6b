import { useId, type ReactElement, type ReactNode } from 'react';
import { PageLink } from '../../routing/navigation.tsx';
import type { Tone } from '../tone.ts';
import classes from './layout.module.css';

/** Numbers side by side. */
export function StatRow({ children }: { children: ReactNode }): ReactElement {
  return <dl className={classes['stats']}>{children}</dl>;
}

interface StatProps {
  label: string;
  value: ReactNode;
  /** Below the value: a plot, or words. */
  hint?: ReactNode;
  /** The page that lists what is counted. */
  href?: string;
  tone?: Tone;
}

/** A number with its name. */
export function Stat({ label, value, hint, href, tone }: StatProps): ReactElement {
  const id = useId();
  return (
    <div className={classes['stat']} data-tone={tone}>
      <dt id={`${id}label`}>{label}</dt>
      <dd className={classes['value']}>
        {href === undefined ? (
          value
        ) : (
          // A number alone says nothing in a list of links.
          <PageLink href={href} id={`${id}value`} aria-labelledby={`${id}label ${id}value`}>
            {value}
          </PageLink>
        )}
      </dd>
      {hint === undefined ? null : <dd className={classes['hint']}>{hint}</dd>}
    </div>
  );
}
