import { Button } from '@mantine/core';
import { useRef, useState, type ReactElement, type ReactNode } from 'react';
import type { FilterSpec } from '../../routing/filter-query.ts';
import { useFieldFilters, type Filters } from '../../routing/use-filters.ts';
import { Icon } from '../icon.tsx';
import classes from './filters.module.css';
import { DayField } from './day-field.tsx';
import { PickField, PicksField } from './pick-fields.tsx';
import { TextField } from './text-field.tsx';
import { TimeField } from './time-field.tsx';

export interface Choice {
  readonly value: string;
  readonly label: string;
  /** How many records have it. */
  readonly count?: number;
}

/** A field of the bar; `name` is the API's parameter. */
export type FilterField =
  | { readonly name: string; readonly kind: 'search' | 'text' | 'time' | 'day' | 'flag'; readonly label: string }
  | { readonly name: string; readonly kind: 'pick' | 'picks'; readonly label: string; readonly choices: readonly Choice[] };

interface FilterBarProps<Spec extends FilterSpec> {
  /** Of the page, whose functions may change other parameters too. */
  filters: Filters<Spec>;
  fields: readonly FilterField[];
  /** After the fields. */
  children?: ReactNode;
}

/** The filters of a page in a line, and a button that removes them. */
export function FilterBar<Spec extends FilterSpec>({ filters, fields, children }: FilterBarProps<Spec>): ReactElement {
  const { values, count } = useFieldFilters(filters.spec);
  // A narrow page shows them on request.
  const [isOpen, setOpen] = useState(false);
  const bar = useRef<HTMLElement>(null);
  const change = (name: string, value: unknown, replace = false): void => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the field's kind decides the value's type
    filters.change({ [name]: value } as Partial<typeof values>, { replace });
  };
  const clear = (): void => {
    filters.clear();
    // The button goes with the last filter, and the focus would go to the top of the page.
    bar.current?.focus();
  };
  return (
    <search ref={bar} tabIndex={-1} className={classes['bar']} aria-label="Filters" data-open={isOpen || undefined}>
      <Button className={classes['fold'] ?? ''} size="xs" variant="default" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {count === 0 ? 'Filters' : `Filters (${count})`}
      </Button>
      {fields.map((field) => (
        <Field key={field.name} field={field} value={values[field.name]} onChange={change} />
      ))}
      {count === 0 ? null : (
        <Button size="xs" variant="subtle" color="gray" onClick={clear}>
          Clear
        </Button>
      )}
      {children}
    </search>
  );
}

interface FieldProps {
  field: FilterField;
  value: unknown;
  onChange: (name: string, value: unknown, replace?: boolean) => void;
}

function FlagField({ label, isSet, onChange }: { label: string; isSet: boolean; onChange: (next: boolean) => void }): ReactElement {
  return (
    <Button
      size="xs"
      variant={isSet ? 'light' : 'default'}
      aria-pressed={isSet}
      leftSection={isSet ? <Icon name="check" size={14} /> : null}
      onClick={() => onChange(!isSet)}
    >
      {label}
    </Button>
  );
}

function Field({ field, value, onChange }: FieldProps): ReactElement {
  const { name, kind, label } = field;
  const text = typeof value === 'string' ? value : '';
  switch (kind) {
    case 'search':
    case 'text':
      return <TextField label={label} isSearch={kind === 'search'} value={text} onChange={(next) => onChange(name, orNull(next), true)} />;
    case 'time':
      return <TimeField label={label} value={text} onChange={(next, replace) => onChange(name, next, replace)} />;
    case 'day':
      return <DayField label={label} value={text} onChange={(next) => onChange(name, orNull(next), true)} />;
    case 'flag':
      return <FlagField label={label} isSet={value === true} onChange={(next) => onChange(name, next)} />;
    case 'pick':
      return <PickField label={label} choices={field.choices} value={text} onChange={(next) => onChange(name, orNull(next))} />;
    case 'picks':
      return <PicksField label={label} choices={field.choices} values={wordsOf(value)} onChange={(next) => onChange(name, next)} />;
  }
}

function wordsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];
}

function orNull(text: string): string | null {
  return text === '' ? null : text;
}
