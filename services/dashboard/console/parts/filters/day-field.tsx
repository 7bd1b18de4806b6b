import type { ReactElement } from 'react';
import { DateInput } from './date-input.tsx';

interface DayFieldProps {
  label: string;
  /** A date, or a time of its day; empty for any. */
  value: string;
  onChange: (value: string) => void;
}

const TO_DAYS = 10;

/** A whole day, in UTC as the API counts days. */
export function DayField({ label, value, onChange }: DayFieldProps): ReactElement {
  return (
    <DateInput
      type="date"
      aria-label={label}
      leftSection={<span className="faint">{label}</span>}
      leftSectionWidth="5.5rem"
      value={value.slice(0, TO_DAYS)}
      onChange={onChange}
    />
  );
}
