import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { answerOf, api, byId } from '../../api/api.ts';
import { PageFrame } from '../../parts/layout/page-frame.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { navigate, PageLink } from '../../routing/navigation.tsx';
import { RunTable } from './run-table.tsx';
import { ScheduleCard } from './schedule-card.tsx';
import classes from './schedules.module.css';

const POLL_MS = 5000;

/** One schedule with the table of its runs. */
export function OneSchedule({ id }: { id: string }): ReactElement {
  const query = useQuery({
    queryKey: ['schedules', id],
    queryFn: ({ signal }) => answerOf(api.GET('/v1/schedules/{id}', { ...byId(id), signal })),
    refetchInterval: POLL_MS,
  });
  return (
    <PageFrame title="Schedule" actions={<PageLink href="/schedules">All schedules</PageLink>}>
      <QueryView query={query} title="The schedule could not be read">
        {(schedule) => (
          <>
            <ul className={classes['schedules']}>
              <ScheduleCard schedule={schedule} onDeleted={() => navigate('/schedules')} />
            </ul>
            <div className={classes['runs']}>
              <Panel title="Runs">
                <RunTable schedule={schedule.id} name={schedule.name ?? schedule.sentence} />
              </Panel>
            </div>
          </>
        )}
      </QueryView>
    </PageFrame>
  );
}
