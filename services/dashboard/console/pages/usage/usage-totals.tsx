import type { ReactElement } from 'react';
import type { UsageList } from '#shared/client/openapi.gen.ts';
import { Stat, StatRow } from '../../parts/layout/stat.tsx';
import { Count, Money, percentText } from '../../parts/numbers.tsx';

type UsageFigures = UsageList['total'];

/** The sum of a time, with what is estimated and what is unknown. */
export function UsageTotals({ total, days }: { total: UsageFigures; days: number }): ReactElement {
  const { costMicroUsd, inputTokens, outputTokens, cachedInputTokens, reasoningTokens, estimated, unknown, calls, attempts } = total;
  const perDay = costMicroUsd === null || days === 0 ? null : Math.round(costMicroUsd / days);
  return (
    <StatRow>
      <Stat label="Spent" value={<Money microUsd={costMicroUsd} isEstimated={estimated > 0} />} hint={costHint(estimated, unknown)} />
      <Stat label="A day" value={<Money microUsd={perDay} />} hint={`${days} ${days === 1 ? 'day' : 'days'} with usage`} />
      <Stat
        label="Tokens sent"
        value={<Count value={inputTokens} />}
        hint={inputTokens === 0 ? undefined : `${percentText(cachedInputTokens / inputTokens)} cached`}
      />
      <Stat
        label="Tokens answered"
        value={<Count value={outputTokens} />}
        hint={reasoningTokens === 0 ? undefined : `${percentText(reasoningTokens / Math.max(1, outputTokens))} reasoning`}
      />
      <Stat
        label="Attempts"
        value={<Count value={attempts} />}
        hint={
          calls === 0 ? undefined : (
            <>
              <Count value={calls} /> model calls
            </>
          )
        }
      />
      {unknown > 0 ? <Stat label="Unknown prices" value={<Count value={unknown} />} tone="warn" hint="Set prices in models" /> : null}
    </StatRow>
  );
}

function costHint(estimated: number, unknown: number): string | undefined {
  const parts = [
    ...(estimated > 0 ? [`${estimated} ${estimated === 1 ? 'use is' : 'uses are'} estimated`] : []),
    ...(unknown > 0 ? ['without unknown prices'] : []),
  ];
  return parts.length === 0 ? undefined : parts.join(', ');
}
