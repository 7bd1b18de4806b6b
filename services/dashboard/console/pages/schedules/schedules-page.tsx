import { Button, Modal, Skeleton, Title } from '@mantine/core';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import type { Schedule } from '../../api/records.ts';
import { createSchedule, readSchedules } from '../../api/schedules.ts';
import { Icon } from '../../parts/icon.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { ScheduleCard } from './schedule-card.tsx';
import { emptyDraft, toNewSchedule } from './schedule-draft.ts';
import { ScheduleForm } from './schedule-form.tsx';
import classes from './schedules.module.css';

const POLL_MS = 5000;

/** The schedules of the tenant, and the form for a new schedule. */
export function Page(): ReactElement {
  const [isCreating, setCreating] = useState(false);
  // The cursor of the page; null for the newest schedules.
  const [cursor, setCursor] = useState<string | null>(null);
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: ['schedules', cursor],
    queryFn: ({ signal }) => readSchedules(cursor, signal),
    refetchInterval: POLL_MS,
    placeholderData: keepPreviousData,
  });
  const close = (): void => setCreating(false);
  const onCreated = (): void => {
    close();
    setCursor(null);
    void queries.invalidateQueries({ queryKey: ['schedules'] });
  };
  const showPage = (to: string | null): void => {
    setCursor(to);
    window.scrollTo({ top: 0 });
  };
  return (
    <div className="page">
      <div className={classes['top']}>
        <Title order={1} size="h2">
          Schedules
        </Title>
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setCreating(true)}>
          New schedule
        </Button>
      </div>
      {error === null ? null : <ProblemNote title="The schedules could not be read" error={error} onRetry={() => void refetch()} />}
      {data === undefined ? (
        error === null && <Skeleton height={180} radius="lg" />
      ) : (
        <ScheduleCards schedules={data.items} isNewest={cursor === null} />
      )}
      <PageButtons cursor={cursor} next={data?.nextCursor ?? null} onTurn={showPage} />
      <Modal opened={isCreating} onClose={close} title="New schedule" size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
        <ScheduleForm
          initial={emptyDraft()}
          schedule={null}
          save={async (draft) => {
            await createSchedule(toNewSchedule(draft));
            onCreated();
          }}
          onCancel={close}
        />
      </Modal>
    </div>
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

function ScheduleCards({ schedules, isNewest }: { schedules: Schedule[]; isNewest: boolean }): ReactElement {
  if (schedules.length === 0) {
    return (
      <section className="card">
        <p className={classes['message']}>
          {isNewest ? 'Nothing is scheduled. A schedule asks an agent at fixed times or in an interval.' : 'There are no older ones.'}
        </p>
      </section>
    );
  }
  return (
    <ul className={classes['schedules']}>
      {schedules.map((schedule) => (
        <ScheduleCard key={schedule.id} schedule={schedule} />
      ))}
    </ul>
  );
}
