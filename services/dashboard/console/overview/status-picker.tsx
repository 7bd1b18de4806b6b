import { NativeSelect } from '@mantine/core';
import type { ReactElement } from 'react';
import { TASK_STATUSES, type TaskStatus } from '#shared/tasks/transitions.ts';

export interface StatusPickerProps {
  /** Null for any. */
  status: TaskStatus | null;
  onPick: (status: TaskStatus | null) => void;
}

/** Which tasks are listed. */
export function StatusPicker({ status, onPick }: StatusPickerProps): ReactElement {
  return (
    <NativeSelect
      aria-label="Status"
      size="xs"
      value={status ?? ''}
      onChange={(event) => onPick(TASK_STATUSES.find((each) => each === event.currentTarget.value) ?? null)}
      data={[{ value: '', label: 'Any status' }, ...TASK_STATUSES.map((each) => ({ value: each, label: each.replaceAll('_', ' ') }))]}
    />
  );
}
