import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { mergeRows } from './merge-rows.ts';

export interface SteadyRows<Row> {
  readonly rows: readonly Row[];
  /** Rows that came above the shown ones. */
  readonly newCount: number;
  /** Shows them. */
  readonly showNew: () => void;
}

/** What a table shows. Its fields change together: rows of one filter under the name of another would be held as those of the other. */
export interface RowList<Row> {
  readonly rows: readonly Row[];
  /** The filter of the rows; another list is shown at once. */
  readonly of: string;
  /** No row is left for a further page. */
  readonly isComplete: boolean;
}

interface SteadyOptions<Row> {
  list: RowList<Row>;
  rowId: (row: Row) => string;
  /** The element on which a pointer keeps rows in place. */
  table: HTMLElement | null;
}

/** Pixels of scrolling from which new rows would move what a person reads. */
const SCROLLED_PX = 60;

interface Held<Row> {
  of: string;
  rows: readonly Row[];
}

/** Keeps rows in their places while the pointer is on them, or the page is scrolled. Their contents change all the same. */
export function useSteadyRows<Row>({ list, rowId, table }: SteadyOptions<Row>): SteadyRows<Row> {
  const { rows, of, isComplete } = list;
  const isUsed = useIsUsed(table);
  const [held, setHeld] = useState<Held<Row> | null>(null);
  if (isUsed && held?.of !== of) setHeld({ of, rows });
  if (!isUsed && held !== null) setHeld(null);
  const merged = held === null || !isUsed ? { rows, newCount: 0 } : mergeRows(held.rows, rows, { rowId, isComplete });
  return { ...merged, showNew: () => setHeld({ of, rows }) };
}

function useIsUsed(element: HTMLElement | null): boolean {
  const pointer = useMemo(() => pointerOn(element), [element]);
  const isPointed = useSyncExternalStore(pointer.subscribe, pointer.isThere);
  const [isScrolled, setScrolled] = useState(false);
  useEffect(() => {
    const box = element?.closest('main');
    if (!box) return undefined;
    const onScroll = (): void => setScrolled(box.scrollTop > SCROLLED_PX);
    box.addEventListener('scroll', onScroll, { passive: true });
    return () => box.removeEventListener('scroll', onScroll);
  }, [element]);
  return isPointed || isScrolled;
}

interface PointerStore {
  subscribe: (notify: () => void) => () => void;
  isThere: () => boolean;
}

/** Whether a mouse is on an element. It is read and not counted from events, since the mouse may have been there before anybody listened. */
function pointerOn(element: HTMLElement | null): PointerStore {
  // A finger leaves no element, so it holds nothing.
  let isFinger = !matchMedia('(hover: hover)').matches;
  const isThere = (): boolean => element !== null && !isFinger && element.matches(':hover');
  const subscribe = (notify: () => void): (() => void) => {
    const stop = new AbortController();
    const onChange = ({ pointerType }: PointerEvent): void => {
      isFinger = pointerType !== 'mouse';
      notify();
    };
    for (const type of ['pointerenter', 'pointerleave'] as const) element?.addEventListener(type, onChange, { signal: stop.signal });
    return () => stop.abort();
  };
  return { subscribe, isThere };
}
