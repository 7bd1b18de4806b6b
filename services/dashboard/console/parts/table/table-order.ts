import type { SortingState } from '@tanstack/react-table';
import { navigate, useSearchParameter } from '../../routing/navigation.tsx';

const PARAMETER = 'sort';

interface TableOrder {
  readonly sorting: SortingState;
  readonly change: (sorting: SortingState) => void;
}

/** The order of a table in the address, `?sort=queues.waiting.desc`. */
export function useTableOrder(table: string): TableOrder {
  const [of, id, direction] = (useSearchParameter(PARAMETER) ?? '').split('.');
  const sorting = of === table && id !== undefined ? [{ id, desc: direction === 'desc' }] : [];
  const change = (next: SortingState): void => {
    const query = new URLSearchParams(window.location.search);
    const first = next[0];
    if (first === undefined) query.delete(PARAMETER);
    else query.set(PARAMETER, `${table}.${first.id}.${first.desc ? 'desc' : 'asc'}`);
    const text = query.toString();
    navigate(text === '' ? window.location.pathname : `?${text}`, { replace: true });
  };
  return { sorting, change };
}
