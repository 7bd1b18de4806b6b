import { ActionIcon, Modal } from '@mantine/core';
import { useState, type ReactElement } from 'react';
import { changeSchedule } from '../api/schedule-calls.ts';
import type { Schedule } from '../api/schedule-records.ts';
import { Icon } from '../parts/icon.tsx';
import { changesOf, draftOf, type ReadyDraft } from './schedule-draft.ts';
import { ScheduleForm } from './schedule-form.tsx';

export interface EditScheduleProps {
  schedule: Schedule;
  name: string;
  onChanged: () => void;
}

/** A button that opens the form with what the schedule is. */
export function EditSchedule({ schedule, name, onChanged }: EditScheduleProps): ReactElement {
  // As it was when the form was opened: the page reads it again every few seconds.
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
            initial={draftOf(opened)}
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

async function save(before: Schedule, draft: ReadyDraft): Promise<void> {
  const changes = changesOf(draftOf(before), draft);
  if (Object.keys(changes).length > 0) await changeSchedule(before.id, changes);
}
