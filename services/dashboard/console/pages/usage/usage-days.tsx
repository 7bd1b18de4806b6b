import { useMemo, type ReactElement } from 'react';
import type { UsageList } from '#shared/client/openapi.gen.ts';
import { Panel } from '../../parts/layout/panel.tsx';
import { Plot } from '../../parts/plot/plot.tsx';
import classes from './usage.module.css';

type UsageItem = UsageList['items'][number];

const DAY_MS = 86_400_000;
const MS = 1000;
const MICRO = 1_000_000;

/** Money and tokens by day. Days of UTC without usage are zero. */
export function UsageDays({ items }: { items: readonly UsageItem[] }): ReactElement | null {
  const days = useMemo(() => everyDay(items), [items]);
  if (days.length === 0) return null;
  const times = days.map(({ at }) => at / MS);
  return (
    <Panel title="By day" actions={<span className="faint">days of UTC</span>}>
      <div className={classes['plots']}>
        <Plot
          label="Money a day"
          kind="bars"
          unit="$"
          times={times}
          series={[{ name: 'spent', values: days.map(({ item }) => (item?.costMicroUsd ?? 0) / MICRO), tone: 'busy' }]}
        />
        <Plot
          label="Tokens a day"
          kind="bars"
          unit="tokens"
          times={times}
          series={[
            {
              name: 'sent and answered',
              values: days.map(({ item }) => (item?.inputTokens ?? 0) + (item?.outputTokens ?? 0)),
              tone: 'good',
            },
          ]}
        />
      </div>
    </Panel>
  );
}

/** A plot of one day would have no width. */
const MIN_DAYS = 14;

/** Each day up to the last that has usage, at least two weeks. */
function everyDay(items: readonly UsageItem[]): { at: number; item: UsageItem | undefined }[] {
  const byDay = new Map(items.flatMap((item) => (item.group === null ? [] : [[Date.parse(item.group), item] as const])));
  const known = [...byDay.keys()].filter((at) => Number.isFinite(at));
  if (known.length === 0) return [];
  const last = Math.max(...known);
  const count = Math.max(MIN_DAYS, Math.round((last - Math.min(...known)) / DAY_MS) + 1);
  return Array.from({ length: count }, (_, place) => {
    const at = last - (count - 1 - place) * DAY_MS;
    return { at, item: byDay.get(at) };
  });
}
