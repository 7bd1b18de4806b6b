import { TextInput, type TextInputProps } from '@mantine/core';
import type { ReactElement } from 'react';
import { useTyped } from './use-typed.ts';

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
  const { text, setText, report } = useTyped(value, onChange);
  return (
    <TextInput
      {...field}
      size="xs"
      value={text}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value);
        if (SENSIBLE.test(currentTarget.value)) report(currentTarget.value);
      }}
      // A part of a date is no value: the field is empty as long as one is missing.
      onBlur={({ currentTarget }) => (currentTarget.validity.badInput ? setText(value) : report(text))}
      onKeyDown={({ key, currentTarget }) => {
        if (key === 'Enter' && !currentTarget.validity.badInput) report(text);
      }}
    />
  );
}
