import type { ReactElement, ReactNode } from 'react';
import classes from './layout.module.css';

interface FactsProps {
  /** Facts without a value are left out. */
  items: readonly { label: string; value: ReactNode }[];
}

/** Names and values in two columns. */
export function Facts({ items }: FactsProps): ReactElement {
  const known = items.filter(({ value }) => value !== null && value !== undefined && value !== '');
  return (
    <dl className={classes['facts']}>
      {known.map(({ label, value }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
