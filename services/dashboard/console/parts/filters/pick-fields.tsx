import { Button, Menu, NativeSelect } from '@mantine/core';
import type { ReactElement } from 'react';
import { Icon } from '../icon.tsx';
import { countText } from '../numbers.tsx';
import type { Choice } from './filter-bar.tsx';
import classes from './filters.module.css';

interface PickFieldProps {
  label: string;
  choices: readonly Choice[];
  /** Empty for any. */
  value: string;
  onChange: (value: string) => void;
}

/** One of several values, or any. A value of the address that is no choice is shown too. */
export function PickField({ label, choices, value, onChange }: PickFieldProps): ReactElement {
  const isKnown = value === '' || choices.some((choice) => choice.value === value);
  const all = isKnown ? choices : [...choices, { value, label: value }];
  return (
    <NativeSelect
      size="xs"
      className={classes['pick']}
      aria-label={label}
      value={value}
      data={[{ value: '', label: `${label}: any` }, ...all.map((choice) => ({ value: choice.value, label: withCount(choice) }))]}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}

interface PicksFieldProps {
  label: string;
  choices: readonly Choice[];
  values: readonly string[];
  onChange: (values: readonly string[]) => void;
}

/** Several of several values. */
export function PicksField({ label, choices, values, onChange }: PicksFieldProps): ReactElement {
  const toggle = (value: string): void => onChange(values.includes(value) ? values.filter((each) => each !== value) : [...values, value]);
  const first = choices.find(({ value }) => value === values[0])?.label ?? values[0];
  const text = values.length === 0 ? 'any' : values.length === 1 ? first : `${values.length} of ${choices.length}`;
  return (
    <Menu position="bottom-start" closeOnItemClick={false}>
      <Menu.Target>
        <Button size="xs" variant={values.length === 0 ? 'default' : 'light'} rightSection={<Icon name="expand" size={14} />}>
          {label}: {text}
        </Button>
      </Menu.Target>
      <Menu.Dropdown className={classes['choices']}>
        {choices.map((choice) => (
          <Menu.CheckboxItem key={choice.value} checked={values.includes(choice.value)} onChange={() => toggle(choice.value)}>
            {withCount(choice)}
          </Menu.CheckboxItem>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function withCount({ label, count }: Choice): string {
  return count === undefined ? label : `${label} (${countText(count)})`;
}
