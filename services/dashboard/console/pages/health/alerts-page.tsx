import type { ReactElement } from 'react';
import { api, itemsOf } from '../../api/api.ts';
import { useMay } from '../../api/person.ts';
import { ALERTS_KEY } from '../../api/query-keys.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { PageFrame } from '../../parts/layout/page-frame.tsx';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { AlertRulePanel } from './alert-rule-panel.tsx';
import { AlertsSetUpNote } from './alerts-set-up-note.tsx';

/** Who is alerted of what the fleet finds, of what now, and whether it arrives. */
export function Page(): ReactElement {
  // A stream that names events which the key may not have is refused as a whole.
  const mayFollowFleet = useMay('operate');
  const query = useLiveQuery({
    queryKey: ALERTS_KEY,
    queryFn: ({ signal }) => itemsOf(api.GET('/v1/alerts', { signal })),
    kinds: mayFollowFleet ? ['finding.*', 'fleet.finding.*'] : ['finding.*'],
  });
  return (
    <PageFrame title="Alerts" width="reading">
      <QueryView query={query} title="The alerts could not be read">
        {(rules) => (rules.length === 0 ? <AlertsSetUpNote /> : rules.map((rule) => <AlertRulePanel key={rule.name} rule={rule} />))}
      </QueryView>
    </PageFrame>
  );
}
