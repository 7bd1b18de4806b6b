import { SegmentedControl } from '@mantine/core';
import { useDeferredValue, type ReactElement } from 'react';
import type { Failure } from '#shared/client/openapi.gen.ts';
import { EmptyNote } from '../../parts/layout/query-view.tsx';
import { Stat, StatRow } from '../../parts/layout/stat.tsx';
import { Count } from '../../parts/numbers.tsx';
import { Age } from '../../parts/time.tsx';
import { FailureCard } from './failure-card.tsx';
import { groupKey } from './failure-groups.ts';
import classes from './failures.module.css';

/** What groups have in common, as the API has it. */
const GROUPINGS = [
  { value: '', label: 'Error and agent' },
  { value: 'error', label: 'Error' },
  { value: 'agent', label: 'Agent' },
  { value: 'release', label: 'Release' },
];

function labelOf(groupBy: string | null): string {
  return GROUPINGS.find(({ value }) => value === (groupBy ?? ''))?.label ?? '';
}

interface GroupingProps {
  /** Null for the default. */
  groupBy: string | null;
  onChange: (groupBy: string | null) => void;
}

/** Picks what the tasks of a group have in common. */
export function Grouping({ groupBy, onChange }: GroupingProps): ReactElement {
  return (
    <div className={classes['grouping']}>
      <span className="faint" id="grouping">
        Group by
      </span>
      <SegmentedControl
        size="xs"
        aria-labelledby="grouping"
        data={GROUPINGS}
        value={groupBy ?? ''}
        onChange={(next) => onChange(next === '' ? null : next)}
      />
    </div>
  );
}

/** How many different ones there are; nothing where the groups do not say it. */
function Distinct({ label, values }: { label: string; values: readonly (string | null | undefined)[] }): ReactElement | null {
  const known = new Set(values.filter(Boolean));
  return known.size === 0 ? null : <Stat label={label} value={<Count value={known.size} />} />;
}

interface FailureGroupsProps {
  groupBy: string | null;
  groups: readonly Failure[];
  /** The filters that are set, which hold for the actions of each group too. */
  selected: Readonly<Record<string, string | null>>;
  isComplete: boolean;
}

/** The groups, the largest first. */
export function FailureGroups({ groupBy, groups, selected, isComplete }: FailureGroupsProps): ReactElement {
  if (groups.length === 0) {
    const isFiltered = Object.keys(selected).length > 0;
    return (
      <EmptyNote title="Nothing failed" text={isFiltered ? 'No task of this filter failed for good.' : 'No kept task failed for good.'} />
    );
  }
  const total = groups.reduce((sum, { count }) => sum + count, 0);
  const lastAt =
    groups
      .map((group) => group.lastAt)
      .toSorted()
      .at(-1) ?? '';
  return (
    <>
      <StatRow>
        <Stat
          label="Failed tasks"
          value={
            <>
              {isComplete ? '' : 'at least '}
              <Count value={total} />
            </>
          }
          tone="bad"
        />
        <Distinct label="Errors" values={groups.map(({ code }) => code)} />
        <Distinct label="Agents" values={groups.map(({ agent }) => agent)} />
        <Distinct label="Releases" values={groups.map(({ release }) => release)} />
        <Stat label="Last failure" value={<Age at={lastAt} of="last failure" />} />
      </StatRow>
      <FailureCards key={groupBy} label={`Failures by ${labelOf(groupBy).toLowerCase()}`} groups={groups} selected={selected} />
    </>
  );
}

/** As many as a window shows. */
const FIRST_CARDS = 6;

interface FailureCardsProps extends Pick<FailureGroupsProps, 'groups' | 'selected'> {
  label: string;
}

/** The first ones are there at once; the others follow while the browser has time, so that a page of many opens without a halt. */
function FailureCards({ label, groups, selected }: FailureCardsProps): ReactElement {
  const shown = useDeferredValue(groups, groups.slice(0, FIRST_CARDS));
  return (
    <ul className={classes['groups']} aria-label={label} aria-busy={shown !== groups}>
      {shown.map((group) => (
        <FailureCard
          key={groupKey(group)}
          group={group}
          selected={selected}
          largest={groups[0]?.count ?? 1}
          startsOpen={groups.length === 1}
        />
      ))}
    </ul>
  );
}
