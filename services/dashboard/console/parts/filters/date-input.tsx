import { TextInput, type TextInputProps } from '@mantine/core';
import { useState, type ReactElement } from 'react';

interface DateInputProps extends Pick<TextInputProps, 'label' | 'aria-label' | 'leftSection' | 'leftSectionWidth'> {
  type: 'date' | 'datetime-local';
  /** As the browser's field has it; empty for any. */
  value: string;
  onChange: (value: string) => void;
}

/** A year is typed digit by digit, and the field has a whole date of the year 0002 after the first. */
const SENSIBLE = /^2\d{3}-/;

/** A field that reports a date or time of the year 2000 or later at once, and anything else when a person leaves it or presses Enter. */
export function DateInput({ value, onChange, ...field }: DateInputProps): ReactElement {
  const [typed, setTyped] = useState(value);
  const [shown, setShown] = useState(value);
  // The address has changed otherwise, by Back or Clear.
  if (value !== shown) {
    setShown(value);
    setTyped(value);
  }
  const report = (text: string): void => {
    if (text === value) return;
    setShown(text);
    onChange(text);
  };
  return (
    <TextInput
      {...field}
      size="xs"
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        if (SENSIBLE.test(currentTarget.value)) report(currentTarget.value);
      }}
      // A part of a date is no value: the field is empty as long as one is missing.
      onBlur={({ currentTarget }) => (currentTarget.validity.badInput ? setTyped(value) : report(typed))}
      onKeyDown={({ key, currentTarget }) => {
        if (key === 'Enter' && !currentTarget.validity.badInput) report(typed);
      }}
    />
  );
}
