import { TextInput } from '@mantine/core';
import { useEffect, useEffectEvent, useState, type ReactElement } from 'react';
import { Icon } from '../icon.tsx';
import classes from './filters.module.css';

interface TextFieldProps {
  label: string;
  /** `/` focuses it, and it is wider. */
  isSearch: boolean;
  value: string;
  onChange: (value: string) => void;
}

/** A person types several letters before the list is read again. */
const TYPING_MS = 300;

/** A field that reports once a person pauses. */
export function TextField({ label, isSearch, value, onChange }: TextFieldProps): ReactElement {
  const [typed, setTyped] = useState(value);
  const [shown, setShown] = useState(value);
  // The address has changed otherwise, by Back or Clear.
  if (value !== shown) {
    setShown(value);
    setTyped(value);
  }
  const report = (text: string): void => {
    setShown(text);
    onChange(text);
  };
  const reportLater = useEffectEvent(report);
  useEffect(() => {
    if (typed === value) return undefined;
    const timer = setTimeout(() => reportLater(typed), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, value]);
  return (
    <TextInput
      size="xs"
      className={isSearch ? classes['search'] : classes['text']}
      type="search"
      aria-label={label}
      placeholder={label}
      value={typed}
      {...(isSearch ? { 'data-search': true, leftSection: <Icon name="search" size={14} /> } : {})}
      onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      onKeyDown={({ key, currentTarget }) => {
        if (key === 'Escape') currentTarget.blur();
        if (key === 'Enter' && typed !== value) report(typed);
      }}
    />
  );
}
