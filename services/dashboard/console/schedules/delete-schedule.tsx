import { ActionIcon, Button, Modal, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import { deleteSchedule } from '../api/schedule-calls.ts';
import type { Schedule } from '../api/schedule-records.ts';
import { Icon } from '../parts/icon.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import classes from './schedules.module.css';

export interface DeleteScheduleProps {
  schedule: Schedule;
  name: string;
  onDeleted: () => void;
}

/** A button that asks before it deletes. */
export function DeleteSchedule({ schedule, name, onDeleted }: DeleteScheduleProps): ReactElement {
  const [isAsking, setAsking] = useState(false);
  const remove = useMutation({
    mutationFn: () => deleteSchedule(schedule.id),
    onSuccess: () => {
      setAsking(false);
      onDeleted();
    },
  });
  const close = (): void => setAsking(false);
  return (
    <>
      <ActionIcon variant="default" size="md" aria-label={`Delete ${name}`} onClick={() => setAsking(true)}>
        <Icon name="trash" size={16} />
      </ActionIcon>
      <Modal opened={isAsking} onClose={close} title="Delete this schedule?" closeButtonProps={{ 'aria-label': 'Close' }}>
        <Text>
          #{schedule.number} {name} fires no more. Runs that have begun go on, and those that ended stay readable.
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
