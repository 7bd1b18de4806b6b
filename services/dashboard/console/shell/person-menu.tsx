import { Button } from '@mantine/core';
import type { ReactElement } from 'react';
import { usePerson } from '../api/call-api.ts';
import classes from './shell.module.css';

/** The person who is signed in, and the button to sign out. */
export function PersonMenu(): ReactElement {
  const { data } = usePerson();
  return (
    <form className={classes['person']} method="post" action="/sign-out">
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
