import type { ReactElement } from 'react';
import { useLiveState } from '../live/use-live.ts';
import classes from './shell.module.css';

const TEXTS = { connecting: 'Connecting', open: 'Live', lost: 'Not live' } as const;

/** Whether the page follows the fleet's events. */
export function LiveMark(): ReactElement {
  const state = useLiveState();
  return (
    <output className={classes['live']} data-state={state}>
      {state === 'off' ? null : TEXTS[state]}
      {state === 'lost' ? <span className={classes['polling']}>, asking every 3 s</span> : null}
    </output>
  );
}
