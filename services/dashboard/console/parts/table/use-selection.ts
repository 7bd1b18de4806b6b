import { useMemo, useState } from 'react';

export interface Selection {
  readonly ids: ReadonlySet<string>;
  readonly change: (ids: ReadonlySet<string>) => void;
}

/** The rows that a person has selected, by their ids. */
export function useSelection(): Selection {
  const [ids, change] = useState<ReadonlySet<string>>(() => new Set());
  return useMemo(() => ({ ids, change }), [ids]);
}

/** The selection with one id added or removed. */
export function toggled(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return next;
}
