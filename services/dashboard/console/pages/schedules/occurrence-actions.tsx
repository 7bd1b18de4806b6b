import { Button, Modal, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactElement, type SubmitEvent } from 'react';
import type { Backfill, Schedule } from '#shared/client/openapi.gen.ts';
import { answerOf, api, byId } from '../../api/api.ts';
import { ActionButton } from '../../parts/actions/action-button.tsx';
import { useSendOnce } from '../../parts/actions/use-send-once.ts';
import { ProblemNote } from '../../parts/notes/problem-note.tsx';
import { fieldInstant, zoneField, zoneTime } from '../../parts/zone-time.ts';
import classes from './schedules.module.css';

/** A press later than this after a failure is another run, not the same once more. */
const SAME_RUN_MS = 600_000;

/** Runs the schedule once, besides its times. */
export function RunNow({ schedule: { id }, name }: { schedule: Schedule; name: string }): ReactElement {
  const sendOnce = useSendOnce({ withinMs: SAME_RUN_MS });
  return (
    <ActionButton
      needs="submit"
      text="Run now"
      icon="play"
      run={() => sendOnce(id, (key) => answerOf(api.POST('/v1/schedules/{id}/run', { ...byId(id), headers: { 'Idempotency-Key': key } })))}
      done={`${name} runs now`}
      refresh={[['schedules']]}
    />
  );
}

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
      run={() => answerOf(api.POST('/v1/schedules/{id}/skip', { ...byId(id), body: { occurrence: nextFireAt } }))}
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

/** First lists what would run, then runs it. All of its times are of the schedule's zone, by which its rule is read too. */
function BackfillForm({ schedule, onDone }: { schedule: Schedule; onDone: () => void }): ReactElement {
  const queries = useQueryClient();
  const { id, tz } = schedule;
  const [since, setSince] = useState(() => zoneField(Date.now() - DAY_MS, tz));
  const [until, setUntil] = useState(() => zoneField(Date.now(), tz));
  const fill = (dryRun: boolean): Promise<Backfill> =>
    answerOf(
      api.POST('/v1/schedules/{id}/backfill', {
        ...byId(id),
        body: {
          since: new Date({ since: fieldInstant(since, tz), until: fieldInstant(until, tz) }.since).toISOString(),
          until: new Date({ since: fieldInstant(since, tz), until: fieldInstant(until, tz) }.until).toISOString(),
          dryRun: dryRun,
        },
      }),
    );
  const preview = useMutation({ mutationFn: () => fill(true) });
  const run = useMutation({
    mutationFn: () => fill(false),
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
        label={`From (${tz})`}
        required
        value={since}
        onChange={({ currentTarget }) => change(setSince)(currentTarget.value)}
      />
      <TextInput
        type="datetime-local"
        label={`To (${tz})`}
        required
        value={until}
        onChange={({ currentTarget }) => change(setUntil)(currentTarget.value)}
      />
      {preview.data === undefined ? null : <BackfillPreview backfill={preview.data} tz={tz} />}
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
        {newRuns} of {items.length} had no run ({tz})
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
