import { useMemo, useState } from 'react';

export interface Selection {
  readonly ids: ReadonlySet<string>;
  readonly change: (ids: ReadonlySet<string>) => void;
}

const NONE: ReadonlySet<string> = new Set();

/**
 * The rows that a person has selected, by their ids. `of`: the filter of the rows. Those of another filter begin without a selection, because
 * an action would change rows that are not shown.
 */
export function useSelection(of: string): Selection {
  const [selected, setSelected] = useState({ of, ids: NONE });
  if (selected.of !== of) setSelected({ of, ids: NONE });
  const { ids } = selected;
  return useMemo(() => ({ ids, change: (next) => setSelected((before) => (before.of === of ? { of, ids: next } : before)) }), [ids, of]);
}

/** The selection with one id added or removed. */
export function toggled(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return next;
}
