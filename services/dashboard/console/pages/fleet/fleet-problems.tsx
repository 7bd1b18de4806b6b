import { Alert } from '@mantine/core';
import type { ReactElement } from 'react';
import type { FleetData } from '../../api/fleet.ts';
import { Age } from '../../parts/time.tsx';
import { PageLink } from '../../routing/navigation.tsx';
import classes from './fleet.module.css';

/** Clocks that differ more make records contradict each other. */
export const SKEW_WARN_MS = 1000;

/** What keeps tasks from running: dead workers, queues without a worker, and parts that stand still. */
export function FleetProblems({ fleet }: { fleet: FleetData }): ReactElement | null {
  const members = [...fleet.workers, ...fleet.hubs];
  const dead = members.filter(({ status }) => status === 'dead');
  const stopped = members.filter((member) => member.status !== 'dead' && member.stopped.length > 0);
  const skewed = members.filter(({ status, skewMs }) => status !== 'dead' && Math.abs(skewMs) > SKEW_WARN_MS);
  if (dead.length + stopped.length + skewed.length + fleet.unserved.length === 0) return null;
  return (
    <Alert color="red" variant="outline" title="Needs attention" className={classes['problems'] ?? ''}>
      <ul>
        {fleet.unserved.map(({ name, waiting }) => (
          <li key={`queue ${name}`}>
            No worker takes the queue <PageLink href="/queues">{name}</PageLink>, and {waiting}{' '}
            {waiting === 1 ? 'task waits' : 'tasks wait'}.
          </li>
        ))}
        {dead.map(({ id, lastBeatAt }) => (
          <li key={`dead ${id}`}>
            <code>{id}</code> is dead: its last heartbeat came <Age at={lastBeatAt} of="last heartbeat" />. Its tasks run again elsewhere.
          </li>
        ))}
        {stopped.flatMap(({ id, stopped: parts }) =>
          parts.map((part) => (
            <li key={`stopped ${id} ${part}`}>
              <code>{id}</code>: {part}.
            </li>
          )),
        )}
        {skewed.map(({ id, host, skewMs }) => (
          <li key={`skew ${id}`}>
            The clock of {host} is {Math.abs(skewMs)} ms {skewMs > 0 ? 'ahead of' : 'behind'} Redis. Synchronise it (NTP).
          </li>
        ))}
      </ul>
    </Alert>
  );
}
