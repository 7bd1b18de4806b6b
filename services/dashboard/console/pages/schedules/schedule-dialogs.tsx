import { ActionIcon, Button, Modal, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import type { Schedule } from '#shared/client/openapi.gen.ts';
import { answerOf, api, byId } from '../../api/api.ts';
import { Icon } from '../../parts/icon.tsx';
import { ProblemNote } from '../../parts/notes/problem-note.tsx';
import { changesOf, toDraft, type CompleteDraft } from './schedule-draft.ts';
import { ScheduleForm } from './schedule-form.tsx';
import classes from './schedules.module.css';

interface EditScheduleProps {
  schedule: Schedule;
  name: string;
  onChanged: () => void;
}

/** A button that opens the form with the schedule. */
export function EditSchedule({ schedule, name, onChanged }: EditScheduleProps): ReactElement {
  // The schedule as it was when the form opened; the page reloads it every few seconds.
  const [opened, setOpened] = useState<Schedule | null>(null);
  const close = (): void => setOpened(null);
  return (
    <>
      <ActionIcon variant="default" size="md" aria-label={`Edit ${name}`} onClick={() => setOpened(schedule)}>
        <Icon name="edit" size={16} />
      </ActionIcon>
      <Modal
        opened={opened !== null}
        onClose={close}
        title={`Edit schedule #${schedule.number}`}
        size="lg"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {opened === null ? null : (
          <ScheduleForm
            initial={toDraft(opened)}
            schedule={opened}
            save={async (draft) => {
              await save(opened, draft);
              close();
              onChanged();
            }}
            onCancel={close}
          />
        )}
      </Modal>
    </>
  );
}

async function save(before: Schedule, draft: CompleteDraft): Promise<void> {
  const changes = changesOf(toDraft(before), draft);
  if (Object.keys(changes).length > 0) await answerOf(api.PATCH('/v1/schedules/{id}', { ...byId(before.id), body: changes }));
}

interface DeleteScheduleProps {
  schedule: Schedule;
  name: string;
  onDeleted: () => void;
}

/** A button that deletes the schedule after a confirmation. */
export function DeleteSchedule({ schedule, name, onDeleted }: DeleteScheduleProps): ReactElement {
  const [isConfirming, setConfirming] = useState(false);
  const remove = useMutation({
    mutationFn: () => answerOf(api.DELETE('/v1/schedules/{id}', byId(schedule.id))),
    onSuccess: () => {
      setConfirming(false);
      onDeleted();
    },
  });
  const close = (): void => setConfirming(false);
  return (
    <>
      <ActionIcon variant="default" size="md" aria-label={`Delete ${name}`} onClick={() => setConfirming(true)}>
        <Icon name="trash" size={16} />
      </ActionIcon>
      <Modal opened={isConfirming} onClose={close} title="Delete this schedule?" closeButtonProps={{ 'aria-label': 'Close' }}>
        <Text>
          #{schedule.number} {name} fires no more. Runs that have begun go on, and ended runs stay readable.
        </Text>
        {remove.error === null ? null : <ProblemNote title="It was not deleted" error={remove.error} />}
        <div className={classes['buttons']}>
          <Button color="red" loading={remove.isPending} onClick={() => remove.mutate()}>
            Delete
          </Button>
          <Button variant="default" data-autofocus onClick={close}>
            Keep it
          </Button>
        </div>
      </Modal>
    </>
  );
}
