import { NativeSelect } from '@mantine/core';
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { UsageList } from '#shared/client/openapi.gen.ts';
import { answerOf, api, queryOf } from '../../api/api.ts';
import { useIsInstallation } from '../../api/person.ts';
import { USAGE_GROUPS, type UsageGroup } from './usage-path.ts';
import { FilterBar } from '../../parts/filters/filter-bar.tsx';
import { PageFrame } from '../../parts/layout/page-frame.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { useDataKey } from '../../parts/table/data-key.ts';
import { useFilters } from '../../routing/use-filters.ts';
import { BudgetPanel } from './budget-panel.tsx';
import { ProviderPanel } from './provider-panel.tsx';
import { UsageDays } from './usage-days.tsx';
import { UsagePeriod } from './usage-period.tsx';
import { UsageTable } from './usage-table.tsx';
import { UsageTotals } from './usage-totals.tsx';
import classes from './usage.module.css';

const FILTERS = { groupBy: 'text', since: 'text', until: 'text' } as const;
const POLL_MS = 30_000;
const GROUP_TEXTS: Readonly<Record<UsageGroup, string>> = {
  agent: 'Agent',
  model: 'Model',
  source: 'Source',
  task: 'Task',
  session: 'Session',
  person: 'Person',
  key: 'Key',
  schedule: 'Schedule',
  tenant: 'Tenant',
  day: 'Day',
};

/** What was spent, on what, and what may be: usage, budgets and providers. */
export function Page(): ReactElement {
  const isInstallation = useIsInstallation();
  return (
    <PageFrame title="UsageList">
      <UsageSection isInstallation={isInstallation} />
      <BudgetPanel />
      {isInstallation ? <ProviderPanel /> : null}
    </PageFrame>
  );
}

function useUsage(group: UsageGroup, days: string): UseQueryResult<UsageList> {
  return useQuery({
    queryKey: ['usage', group, days],
    queryFn: ({ signal }) => answerOf(api.GET('/v1/usage', { params: { query: queryOf<'getUsage'>(days, { groupBy: group }) }, signal })),
    refetchInterval: POLL_MS,
    placeholderData: keepPreviousData,
  });
}

function UsageSection({ isInstallation }: { isInstallation: boolean }): ReactElement {
  const filters = useFilters(FILTERS);
  const { since, until } = filters.values;
  const groups = USAGE_GROUPS.filter((each) => each !== 'tenant' || isInstallation);
  const group = groups.find((each) => each === filters.values.groupBy) ?? 'agent';
  const days = new URLSearchParams({ ...(since === null ? {} : { since }), ...(until === null ? {} : { until }) }).toString();
  const byDay = useUsage('day', days);
  const byGroup = useUsage(group, days);
  const of = useDataKey(`${group} ${days}`, byGroup.isPlaceholderData);
  return (
    <>
      <div className={classes['period']}>
        <UsagePeriod period={{ since, until }} onChange={(period) => filters.change(period)} />
        <FilterBar
          filters={filters}
          fields={[
            { name: 'since', kind: 'day', label: 'First day' },
            { name: 'until', kind: 'day', label: 'Last day' },
          ]}
        />
        <span className="faint">Days in UTC, the last one included.</span>
      </div>
      <QueryView query={byDay} title="The usage could not be read">
        {({ items, total }) => (
          <>
            <UsageTotals total={total} days={items.length} />
            <UsageDays items={items} />
          </>
        )}
      </QueryView>
      <Panel
        title={`By ${GROUP_TEXTS[group].toLowerCase()}`}
        actions={
          <div className={classes['groups']}>
            <a href={`/v1/usage?format=csv&groupBy=${group}${days === '' ? '' : `&${days}`}`} download="usage.csv">
              CSV
            </a>
            <NativeSelect
              size="xs"
              aria-label="Group by"
              data={groups.map((value) => ({ value, label: GROUP_TEXTS[value] }))}
              value={group}
              onChange={({ currentTarget }) => filters.change({ groupBy: currentTarget.value }, { replace: true })}
            />
          </div>
        }
      >
        <QueryView query={byGroup} title="The usage could not be read">
          {({ items }) => <UsageTable group={group} title={GROUP_TEXTS[group]} items={items} of={of} days={{ since, until }} />}
        </QueryView>
      </Panel>
    </>
  );
}
