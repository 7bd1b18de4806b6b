import { TextInput } from '@mantine/core';
import { useEffect, useEffectEvent, type ReactElement } from 'react';
import { Icon } from '../icon.tsx';
import classes from './filters.module.css';
import { useTyped } from './use-typed.ts';

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
  const { text, setText, report } = useTyped(value, onChange);
  const reportLater = useEffectEvent(report);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => reportLater(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, value]);
  return (
    <TextInput
      size="xs"
      className={isSearch ? classes['search'] : classes['text']}
      type="search"
      aria-label={label}
      placeholder={label}
      value={text}
      {...(isSearch ? { 'data-search': true, leftSection: <Icon name="search" size={14} /> } : {})}
      onChange={({ currentTarget }) => setText(currentTarget.value)}
      onKeyDown={({ key, currentTarget }) => {
        if (key === 'Escape') currentTarget.blur();
        if (key === 'Enter') report(text);
      }}
    />
  );
}
