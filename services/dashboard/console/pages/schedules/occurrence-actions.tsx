import { Button, Modal, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactElement, type SubmitEvent } from 'react';
import type { Schedule } from '../../api/records.ts';
import { backfillSchedule, skipOccurrence, type Backfill } from '../../api/schedules.ts';
import { ActionButton } from '../../parts/actions/action-button.tsx';
import { ProblemNote } from '../../parts/notes/problem-note.tsx';
import { zoneTime } from '../../parts/zone-time.ts';
import classes from './schedules.module.css';

/** Skips the next occurrence after a confirmation; nothing for a schedule without one. */
export function SkipNext({ schedule: { id, nextFireAt, tz } }: { schedule: Schedule }): ReactElement | null {
  if (!nextFireAt) return null;
  return (
    <ActionButton
      needs="submit"
      text="Skip next"
      confirm={{
        title: 'Skip the next run?',
        text: `The run of ${zoneTime(nextFireAt, tz)} (${tz}) does not happen; later ones do.`,
        button: 'Skip it',
      }}
      run={() => skipOccurrence(id, nextFireAt)}
      done="The next run is skipped"
      refresh={[['schedules']]}
    />
  );
}

/** Opens a form that runs the past occurrences of a range that had no run. */
export function BackfillButton({ schedule, name }: { schedule: Schedule; name: string }): ReactElement {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setOpen(true)}>
        Backfill
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title={`Backfill ${name}`} closeButtonProps={{ 'aria-label': 'Close' }}>
        <BackfillForm schedule={schedule} onDone={() => setOpen(false)} />
      </Modal>
    </>
  );
}

const DAY_MS = 86_400_000;

/** First lists what would run, then runs it. */
function BackfillForm({ schedule, onDone }: { schedule: Schedule; onDone: () => void }): ReactElement {
  const queries = useQueryClient();
  const [since, setSince] = useState(() => localTime(Date.now() - DAY_MS));
  const [until, setUntil] = useState(() => localTime(Date.now()));
  const range = { since: new Date(since).getTime(), until: new Date(until).getTime() };
  const preview = useMutation({ mutationFn: () => backfillSchedule(schedule.id, range, true) });
  const run = useMutation({
    mutationFn: () => backfillSchedule(schedule.id, range, false),
    onSuccess: onDone,
    onSettled: () => queries.invalidateQueries({ queryKey: ['schedules'] }),
  });
  const change = (set: (value: string) => void) => (value: string) => {
    set(value);
    preview.reset();
  };
  const onSubmit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    if (preview.data === undefined) preview.mutate();
    else run.mutate();
  };
  const count = preview.data?.newRuns ?? 0;
  const error = run.error ?? preview.error;
  return (
    <form className={classes['form']} onSubmit={onSubmit}>
      <p className="faint">Runs each past time of the range that had no run, once. Runs that were skipped had none.</p>
      <TextInput
        type="datetime-local"
        label="From"
        required
        value={since}
        onChange={({ currentTarget }) => change(setSince)(currentTarget.value)}
      />
      <TextInput
        type="datetime-local"
        label="To"
        required
        value={until}
        onChange={({ currentTarget }) => change(setUntil)(currentTarget.value)}
      />
      {preview.data === undefined ? null : <BackfillPreview backfill={preview.data} tz={schedule.tz} />}
      {error === null ? null : <ProblemNote title="The backfill was refused" error={error} />}
      <Button type="submit" loading={preview.isPending || run.isPending} disabled={preview.data !== undefined && count === 0}>
        {preview.data === undefined ? 'List the missing runs' : `Run ${count}`}
      </Button>
    </form>
  );
}

const SHOWN = 10;

function BackfillPreview({ backfill: { items, newRuns }, tz }: { backfill: Backfill; tz: string }): ReactElement {
  const missing = items.filter(({ isNew }) => isNew);
  return (
    <output>
      <strong>
        {newRuns} of {items.length} had no run
      </strong>
      <ul className={classes['missing']}>
        {missing.slice(0, SHOWN).map(({ occurrence }) => (
          <li key={occurrence}>{zoneTime(occurrence, tz)}</li>
        ))}
        {missing.length > SHOWN ? <li className="faint">and {missing.length - SHOWN} more</li> : null}
      </ul>
    </output>
  );
}

/** As a field for local times has it, to the minute. */
function localTime(at: number): string {
  const offsetMs = new Date(at).getTimezoneOffset() * 60_000;
  return new Date(at - offsetMs).toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length);
}
