import { Button, Modal } from '@mantine/core';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import type { Schedule } from '#shared/client/openapi.gen.ts';
import { answerOf, api } from '../../api/api.ts';
import { useAgentNames } from '../../api/known-agents.ts';
import { useMay } from '../../api/person.ts';
import { readSchedules } from './schedule-reads.ts';
import { FilterBar } from '../../parts/filters/filter-bar.tsx';
import { Icon } from '../../parts/icon.tsx';
import { PageFrame } from '../../parts/layout/page-frame.tsx';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { countText } from '../../parts/numbers.tsx';
import { useDataKey } from '../../parts/table/data-key.ts';
import { useSearchParameter } from '../../routing/navigation.tsx';
import { useFilters } from '../../routing/use-filters.ts';
import { OneSchedule } from './one-schedule.tsx';
import { ScheduleCard } from './schedule-card.tsx';
import { emptyDraft, toNewSchedule } from './schedule-draft.ts';
import { ScheduleForm } from './schedule-form.tsx';
import { ScheduleTable } from './schedule-table.tsx';
import classes from './schedules.module.css';
import { WeekView } from './week-view.tsx';

const POLL_MS = 5000;
const FILTERS = { q: 'text', status: 'text', agent: 'text' } as const;
const ALL = { ...FILTERS, cursor: 'text', view: 'text' } as const;
const NO_FILTER = { q: null, status: null, agent: null, cursor: null } as const;
const STATUSES = ['active', 'paused', 'completed', 'failed'].map((value) => ({ value, label: value }));
const VIEWS = [
  { view: null, text: 'Cards' },
  { view: 'table', text: 'Table' },
  { view: 'week', text: 'Week' },
] as const;

/** The schedules of the tenant, or the schedule whose id is in the address. */
export function Page(): ReactElement {
  const open = useSearchParameter('open');
  return open === null ? <ScheduleList /> : <OneSchedule key={open} id={open} />;
}

function ScheduleList(): ReactElement {
  const filters = useFilters(FILTERS);
  const address = useFilters(ALL);
  const { q, status, agent, cursor, view } = address.values;
  const clear = (): void => address.change(NO_FILTER);
  const agents = useAgentNames();
  const query = useQuery({
    queryKey: ['schedules', { q, status, agent, cursor, isWide: view !== null }],
    queryFn: ({ signal }) => readSchedules({ q, status, agent, cursor, isWide: view !== null }, signal),
    refetchInterval: POLL_MS,
    placeholderData: keepPreviousData,
  });
  const of = useDataKey(address.search, query.isPlaceholderData);
  const fields = [
    { name: 'q', kind: 'search', label: 'Search' },
    { name: 'status', kind: 'pick', label: 'Status', choices: STATUSES },
    { name: 'agent', kind: 'pick', label: 'Agent', choices: agents.map((value) => ({ value, label: value })) },
  ] as const;
  return (
    <PageFrame title="Schedules" actions={<NewSchedule onCreated={clear} />}>
      <div className={classes['tools']}>
        <FilterBar
          // Another filter begins with its newest.
          filters={{ ...filters, clear, change: (changes, options) => address.change({ ...changes, cursor: null }, options) }}
          fields={fields}
        />
        <fieldset className={classes['views']}>
          <legend className="unseen">View</legend>
          {VIEWS.map((each) => (
            <Button
              key={each.text}
              size="xs"
              variant={view === each.view ? 'light' : 'default'}
              aria-pressed={view === each.view}
              onClick={() => address.change({ view: each.view, cursor: null })}
            >
              {each.text}
            </Button>
          ))}
        </fieldset>
      </div>
      <QueryView query={query} title="The schedules could not be read">
        {({ items, nextCursor, search }) => (
          <>
            <Shown schedules={items} isPart={nextCursor !== null} of={of} view={view} whenEmpty={emptyText(filters.count, cursor)} />
            {search && nextCursor !== null ? (
              <p className="faint">
                Searched {countText(search.searched)} of {countText(search.total)} schedules, the newest first.
              </p>
            ) : null}
            <PageButtons cursor={cursor} next={nextCursor} onTurn={(to) => address.change({ cursor: to })} />
          </>
        )}
      </QueryView>
    </PageFrame>
  );
}

function emptyText(filters: number, cursor: string | null): string {
  if (cursor !== null) return 'There are no older ones.';
  return filters === 0 ? 'Nothing is scheduled. A schedule asks an agent at fixed times or in an interval.' : 'No schedule fits.';
}

interface ShownProps {
  schedules: Schedule[];
  isPart: boolean;
  of: string;
  view: string | null;
  whenEmpty: string;
}

function Shown({ schedules, isPart, of, view, whenEmpty }: ShownProps): ReactElement {
  if (view === 'table') return <ScheduleTable schedules={schedules} isPart={isPart} of={of} whenEmpty={whenEmpty} />;
  if (schedules.length === 0) {
    return (
      <section className="card">
        <p className={classes['message']}>{whenEmpty}</p>
      </section>
    );
  }
  if (view === 'week') return <WeekView schedules={schedules} />;
  return (
    <ul className={classes['schedules']}>
      {schedules.map((schedule) => (
        <ScheduleCard key={schedule.id} schedule={schedule} />
      ))}
    </ul>
  );
}

/** A button that opens the form for a new schedule. */
function NewSchedule({ onCreated }: { onCreated: () => void }): ReactElement | null {
  const [isOpen, setOpen] = useState(false);
  const queries = useQueryClient();
  const maySubmit = useMay('submit');
  const close = (): void => setOpen(false);
  if (!maySubmit) return null;
  return (
    <>
      <Button size="xs" leftSection={<Icon name="plus" size={14} />} onClick={() => setOpen(true)}>
        New schedule
      </Button>
      <Modal opened={isOpen} onClose={close} title="New schedule" size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
        <ScheduleForm
          initial={emptyDraft()}
          schedule={null}
          save={async (draft) => {
            await answerOf(api.POST('/v1/schedules', { body: toNewSchedule(draft) }));
            close();
            onCreated();
            void queries.invalidateQueries({ queryKey: ['schedules'] });
          }}
          onCancel={close}
        />
      </Modal>
    </>
  );
}

interface PageButtonsProps {
  cursor: string | null;
  next: string | null;
  onTurn: (cursor: string | null) => void;
}

/** Buttons to the older schedules and back to the newest. */
function PageButtons({ cursor, next, onTurn }: PageButtonsProps): ReactElement | null {
  if (cursor === null && next === null) return null;
  return (
    <div className={classes['buttons']}>
      <Button variant="default" disabled={cursor === null} onClick={() => onTurn(null)}>
        Newest
      </Button>
      <Button variant="default" disabled={next === null} onClick={() => onTurn(next)}>
        Older
      </Button>
    </div>
  );
}
