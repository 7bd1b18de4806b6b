import { NativeSelect } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { changePriority, type TaskPlace } from '../api/tasks.ts';
import { ProblemNote } from '../parts/problem-note.tsx';

const NAMES: Readonly<Record<number, string>> = { 1: 'low', 5: 'normal', 8: 'high', 10: 'highest' };
const CHOICES = Array.from({ length: 10 }, (_, index) => 10 - index).map((value) => ({
  value: String(value),
  label: `Priority ${value}${NAMES[value] === undefined ? '' : ` (${NAMES[value]})`}`,
}));

export interface PriorityPickerProps {
  place: TaskPlace;
  priority: number;
  onChanged: () => void;
}

/** Changes how soon a task that waits has its turn. */
export function PriorityPicker({ place, priority, onChanged }: PriorityPickerProps): ReactElement {
  const change = useMutation({ mutationFn: (wanted: number) => changePriority(place, wanted), onSettled: onChanged });
  return (
    <>
      <NativeSelect
        aria-label="Priority"
        size="sm"
        data={CHOICES}
        value={String(change.isPending ? change.variables : priority)}
        disabled={change.isPending}
        onChange={({ currentTarget }) => change.mutate(Number(currentTarget.value))}
      />
      {change.error === null ? null : <ProblemNote title="The priority was not changed" error={change.error} />}
    </>
  );
}
