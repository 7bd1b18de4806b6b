import { Button } from '@mantine/core';
import type { ReactElement } from 'react';
import { useVisitor } from '../api/use-visitor.ts';
import classes from './shell.module.css';

/** Who is signed in, and the way out. */
export function VisitorMenu(): ReactElement {
  const { data } = useVisitor();
  return (
    <form className={classes['visitor']} method="post" action="/sign-out">
      {data === undefined ? null : (
        <span className={classes['who']} title={data.name}>
          {data.tenant} · {data.scopes.join(', ')}
        </span>
      )}
      <Button type="submit" variant="default" size="xs">
        Sign out
      </Button>
    </form>
  );
}
