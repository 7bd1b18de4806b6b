import { useMemo, useState } from 'react';
import type { Column } from './column.ts';

type Choice = Readonly<Record<string, boolean>>;

interface ShownColumns {
  /** Whether each column is shown, by its id. */
  readonly visibility: Record<string, boolean>;
  readonly choose: (id: string, isShown: boolean) => void;
}

/** The columns that a person has chosen, which the browser keeps. */
export function useShownColumns<Row>(table: string, columns: readonly Column<Row>[]): ShownColumns {
  const key = `muster:columns:${table}`;
  const [choice, setChoice] = useState<Choice>(() => readChoice(key));
  const visibility = useMemo(
    () => Object.fromEntries(columns.map(({ id, isOptional }) => [id, choice[id] ?? isOptional !== true])),
    [columns, choice],
  );
  const choose = (id: string, isShown: boolean): void => {
    const next = { ...choice, [id]: isShown };
    setChoice(next);
    localStorage.setItem(key, JSON.stringify(next));
  };
  return { visibility, choose };
}

function readChoice(key: string): Choice {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? '{}');
    if (typeof stored !== 'object' || stored === null) return {};
    return Object.fromEntries(Object.entries(stored).filter((entry): entry is [string, boolean] => typeof entry[1] === 'boolean'));
  } catch {
    return {};
  }
}
