import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { memo, useId, useState, type ReactElement } from 'react';
import type { Failure, Task } from '#shared/client/openapi.gen.ts';
import { api, itemsOf, queryOf } from '../../api/api.ts';
import { BulkTaskActions } from '../../parts/actions/bulk-task-actions.tsx';
import { PauseNamedAgentButton } from '../../parts/actions/pause-agent-button.tsx';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { countText } from '../../parts/numbers.tsx';
import { ToneBadge } from '../../parts/status-badge.tsx';
import { Age, ClockTime } from '../../parts/time.tsx';
import { PageLink } from '../../routing/navigation.tsx';
import { taskPath } from '../../routing/paths.ts';
import classes from './failures.module.css';

interface FailureCardProps {
  group: Failure;
  /** The filters of the page, which hold here too. */
  selected: Readonly<Record<string, string | null>>;
  /** Tasks of the largest group, the measure of the bars. */
  largest: number;
  startsOpen: boolean;
}

/**
 * One error of one agent, or of one release: how often, since when, an example, and what to do about all of them. Each reading renders those
 * alone that changed: all of them take longer than a frame.
 */
export const FailureCard = memo(function FailureCard({ group, selected, largest, startsOpen }: FailureCardProps): ReactElement {
  const [isOpen, setOpen] = useState(startsOpen);
  const examples = useId();
  const { agent, count, firstAt, lastAt, example } = group;
  const filter = { ...selected, status: ['permanently_failed' as const], ...sharedBy(group) };
  const search = searchOf(selected, group);
  const tasks = `${countText(count)} ${count === 1 ? 'task' : 'tasks'}`;
  return (
    <li className={`card ${classes['group']}`}>
      <div className={classes['head']}>
        <h2>
          <GroupName group={group} />
        </h2>
        <span className={classes['count']}>
          <progress max={largest} value={count} aria-hidden="true" />
          {isUnnamed(group) ? tasks : <PageLink href={`/tasks?${search}`}>{tasks}</PageLink>}
        </span>
        <div className={classes['actions']}>
          {agent === null ? null : <PauseNamedAgentButton id={agent} />}
          {isUnnamed(group) ? null : <BulkTaskActions target={{ filter }} actions={['retry', 'discard']} label="all" size="compact-xs" />}
        </div>
      </div>
      <p className={classes['message']}>{example.message}</p>
      <div className={classes['foot']}>
        <span className="faint">
          first <ClockTime at={firstAt} of="first failure" />, last <Age at={lastAt} of="last failure" />
        </span>
        {isUnnamed(group) ? null : (
          <Button size="compact-xs" variant="subtle" aria-expanded={isOpen} aria-controls={examples} onClick={() => setOpen(!isOpen)}>
            {isOpen ? 'Hide examples' : 'Show examples'}
          </Button>
        )}
      </div>
      <div id={examples}>{isOpen && !isUnnamed(group) ? <Examples search={search} /> : null}</div>
    </li>
  );
});

/** What the tasks of a group have in common, as a filter. */
function sharedBy({ code, agent, release }: Failure): Record<string, string> {
  return { ...(code === null ? {} : { code }), ...(agent === null ? {} : { agent }), ...(release ? { release } : {}) };
}

/** Tasks of workers whose version named no release: no filter selects just them. */
function isUnnamed(group: Failure): boolean {
  return Object.keys(sharedBy(group)).length === 0;
}

function GroupName({ group }: { group: Failure }): ReactElement {
  const { code, agent, release } = group;
  return (
    <>
      {code === null ? null : <ToneBadge tone="bad">{code}</ToneBadge>} {agent === null ? null : <span>{agent}</span>}
      {release ? <span>{release}</span> : null}
      {isUnnamed(group) ? <span>no release</span> : null}
    </>
  );
}

/** The query of `GET /v1/tasks`, and of the page of tasks, that finds the group. */
function searchOf(selected: FailureCardProps['selected'], group: Failure): string {
  const query = new URLSearchParams({ status: 'permanently_failed' });
  for (const [name, value] of Object.entries(selected)) if (value !== null) query.set(name, value);
  for (const [name, value] of Object.entries(sharedBy(group))) query.set(name, value);
  return query.toString();
}

const EXAMPLES = 5;

function Examples({ search }: { search: string }): ReactElement {
  const query = useQuery({
    queryKey: ['failures', 'examples', search],
    queryFn: ({ signal }) =>
      itemsOf(api.GET('/v1/tasks', { params: { query: queryOf<'listTasks'>(search, { limit: EXAMPLES }) }, signal })),
  });
  return (
    <QueryView query={query} title="The examples could not be read" height={80}>
      {(tasks) => (
        <ul className={classes['examples']}>
          {tasks.map((task) => (
            <Example key={task.id} task={task} />
          ))}
        </ul>
      )}
    </QueryView>
  );
}

const EXCERPT_CHARACTERS = 160;

function Example({ task: { id, input, attempt, completedAt, createdAt, error } }: { task: Task }): ReactElement {
  const excerpt = input.slice(0, EXCERPT_CHARACTERS).replaceAll(/\s+/g, ' ').trim();
  return (
    <li>
      <PageLink href={taskPath({ id, tenant: null })}>{excerpt || '(no text)'}</PageLink>
      <span className="faint">
        {' '}
        {attempt} {attempt === 1 ? 'attempt' : 'attempts'}, <Age at={completedAt ?? createdAt} of="failed" />
      </span>
      <code className={classes['error']}>{error?.message ?? 'no message'}</code>
    </li>
  );
}
