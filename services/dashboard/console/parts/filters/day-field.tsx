import { TextInput } from '@mantine/core';
import type { ReactElement } from 'react';

interface DayFieldProps {
  label: string;
  /** A date, or a time of its day; empty for any. */
  value: string;
  onChange: (value: string | null) => void;
}

const TO_DAYS = 10;

/** A whole day, in UTC as the API counts days. */
export function DayField({ label, value, onChange }: DayFieldProps): ReactElement {
  return (
    <TextInput
      size="xs"
      type="date"
      aria-label={label}
      leftSection={<span className="faint">{label}</span>}
      leftSectionWidth="5.5rem"
      value={value.slice(0, TO_DAYS)}
      onChange={({ currentTarget }) => onChange(currentTarget.value === '' ? null : currentTarget.value)}
    />
  );
}
