import { useMemo, type ReactElement } from 'react';
import type { UsageList } from '#shared/client/openapi.gen.ts';
import type { UsageGroup } from './usage-path.ts';
import { Count, Money, percentText } from '../../parts/numbers.tsx';
import { Bar } from '../../parts/plot/sparkline.tsx';
import { pathOf, type Period } from './usage-path.ts';
import type { Column } from '../../parts/table/column.ts';
import { DataTable } from '../../parts/table/data-table.tsx';

type UsageItem = UsageList['items'][number];

interface UsageTableProps {
  group: UsageGroup;
  title: string;
  items: readonly UsageItem[];
  /** The group and the days of these items. */
  of: string;
  /** The chosen days, which hold where a row leads to. */
  days: Period;
}

/** Usage by one group; most lead to their tasks of the same days, a day to its own usage. */
export function UsageTable({ group, title, items, of, days }: UsageTableProps): ReactElement {
  const total = Math.max(
    1,
    items.reduce((sum, { costMicroUsd }) => sum + (costMicroUsd ?? 0), 0),
  );
  const columns = useMemo(() => columnsOf(title, total), [title, total]);
  return (
    <DataTable
      name={`usage-${group}`}
      label={`Usage by ${title.toLowerCase()}`}
      rows={items}
      of={of}
      rowId={(item) => item.group ?? ''}
      columns={columns}
      href={(item) => (item.group === null ? null : pathOf(group, item.group, days))}
      whenEmpty="Nothing was used in this time."
    />
  );
}

function columnsOf(title: string, total: number): Column<UsageItem>[] {
  return [
    { id: 'group', title, onNarrow: 'first', cell: ({ group }) => group ?? 'unknown', sortValue: ({ group }) => group },
    {
      id: 'cost',
      title: 'Cost',
      width: 110,
      align: 'end',
      onNarrow: 'line',
      cell: ({ costMicroUsd, estimated }) => <Money microUsd={costMicroUsd} isEstimated={estimated > 0} />,
      sortValue: ({ costMicroUsd }) => costMicroUsd,
    },
    {
      id: 'share',
      title: 'Share',
      width: 160,
      cell: ({ group, costMicroUsd }) => (
        <Bar label={`Cost of ${group ?? 'unknown'}`} value={costMicroUsd ?? 0} of={total} text={percentText((costMicroUsd ?? 0) / total)} />
      ),
    },
    count('inputTokens', 'Sent'),
    count('outputTokens', 'Answered'),
    count('cachedInputTokens', 'Cached'),
    { ...count('reasoningTokens', 'Reasoning'), isOptional: true },
    count('attempts', 'Attempts'),
    { ...count('calls', 'Model calls'), isOptional: true },
    count('estimated', 'Estimated'),
    count('unknown', 'Unpriced'),
  ];
}

/** For billions. */
const COUNT_PX = 112;

type CountField = 'inputTokens' | 'outputTokens' | 'cachedInputTokens' | 'reasoningTokens' | 'attempts' | 'calls' | 'estimated' | 'unknown';

function count(id: CountField, title: string): Column<UsageItem> {
  return {
    id,
    title,
    width: COUNT_PX,
    align: 'end',
    ...(id === 'inputTokens' ? { onNarrow: 'line' as const } : {}),
    cell: (item) => <Count value={item[id]} />,
    sortValue: (item) => item[id],
  };
}
