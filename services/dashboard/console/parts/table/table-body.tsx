import { elementScroll, measureElement, useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useState, type ReactElement } from 'react';
import { useKeys } from '../keys/use-keys.ts';
import { navigate } from '../../routing/navigation.tsx';
import type { Column } from './column.ts';
import type { DataTableProps } from './data-table.tsx';
import { TableRow } from './table-row.tsx';
import { toggled } from './use-selection.ts';
import type { RowTable } from './use-table-rows.ts';

interface TableBodyProps<Row> extends DataTableProps<Row> {
  table: RowTable<Row>;
  /** The shown columns. */
  columns: readonly Column<Row>[];
  box: HTMLElement | null;
}

/** The height of a cell in a large window, by the style sheet. */
const ROW_REM = 1.6875;
const OVERSCAN = 5;
/** Rows that a frame adds to a table of other rows than before: all of a page at once would be a long frame. */
const ROWS_A_FRAME = 12;

/** The rows near the visible part of the page, between two rows that are as high as the others. */
export function TableBody<Row>(props: TableBodyProps<Row>): ReactElement {
  const { table, columns, box, rowId, href, selection, tone, of = '' } = props;
  const rows = table.getRowModel().rows.map(({ original }) => original.row);
  const offset = useOffset(box);
  const [rowPx] = useState(readRowHeight);
  // oxlint-disable-next-line react/incompatible-library -- its functions are read in this component only
  const virtual = useVirtualizer<HTMLElement, HTMLTableRowElement>({
    count: rows.length,
    getScrollElement: () => mainOf(box),
    enabled: box !== null,
    initialOffset: () => mainOf(box)?.scrollTop ?? 0,
    // Rows are there before the box is measured, which would lay the page out once more.
    initialRect: { width: window.innerWidth, height: window.innerHeight },
    observeElementRect: observeSize,
    scrollToFn: scrollWhereAsked,
    estimateSize: () => rowPx,
    measureElement: heightOf,
    getItemKey: (index) => keyOf(rows[index], index, rowId),
    overscan: OVERSCAN,
    scrollMargin: offset,
  });
  const active = useActiveRow(props, rows, (index) => virtual.scrollToIndex(index));
  const near = virtual.getVirtualItems();
  const items = near.slice(0, useGrowth(near.length, of));
  const before = (items[0]?.start ?? offset) - offset;
  const after = virtual.getTotalSize() - ((items.at(-1)?.end ?? offset) - offset);
  const span = columns.length + (selection === undefined ? 0 : 1);
  return (
    <tbody>
      <Spacer height={before} span={span} />
      {items.map(({ index, key }) => {
        const row = rows[index];
        if (row === undefined) return null;
        return (
          <TableRow
            key={key}
            index={index}
            measure={virtual.measureElement}
            row={row}
            id={rowId(row)}
            columns={columns}
            href={href?.(row) ?? null}
            tone={tone?.(row) ?? null}
            isActive={active === rowId(row)}
            selection={selection}
          />
        );
      })}
      <Spacer height={after} span={span} />
    </tbody>
  );
}

/** How many of the rows near the visible part are rendered, frame by frame more until there are `count`. `of`: their filter. */
function useGrowth(count: number, of: string): number {
  const [growth, setGrowth] = useState({ of, shown: ROWS_A_FRAME });
  const { shown } = growth.of === of ? growth : { shown: ROWS_A_FRAME };
  useEffect(() => {
    if (shown >= count) return undefined;
    const frame = requestAnimationFrame(() => setGrowth({ of, shown: shown + ROWS_A_FRAME }));
    return () => cancelAnimationFrame(frame);
  }, [shown, count, of]);
  return shown;
}

type Rows = Virtualizer<HTMLElement, HTMLTableRowElement>;

/** Not to its first offset, where the box is already: that would lay the page out once more. */
function scrollWhereAsked(...[offset, options, rows]: Parameters<typeof elementScroll<HTMLElement>>): void {
  const isAsked = options.adjustments !== undefined || options.behavior !== undefined;
  if (!isAsked && offset === rows.scrollOffset) return;
  elementScroll(offset, options, rows);
}

/** Reports the size of the box whenever it is laid out. */
function observeSize({ scrollElement }: Rows, report: (size: { width: number; height: number }) => void): (() => void) | undefined {
  if (scrollElement === null) return undefined;
  const growth = new ResizeObserver(([entry]) => {
    if (entry) report({ width: Math.round(entry.contentRect.width), height: Math.round(entry.contentRect.height) });
  });
  growth.observe(scrollElement);
  return () => growth.disconnect();
}

/** A row that wraps in a small window is higher than others; its size is observed after the layout, which would be forced by a reading. */
function heightOf(element: HTMLTableRowElement, entry: ResizeObserverEntry | undefined, rows: Rows): number {
  if (entry !== undefined) return measureElement(element, entry, rows);
  const index = rows.indexFromElement(element);
  return rows.itemSizeCache.get(rows.options.getItemKey(index)) ?? rows.options.estimateSize(index);
}

/** An exact one: each row that turns out otherwise moves the place to which Back returns. */
function readRowHeight(): number {
  return Math.round(ROW_REM * Number.parseFloat(getComputedStyle(document.documentElement).fontSize));
}

function keyOf<Row>(row: Row | undefined, index: number, rowId: (row: Row) => string): string | number {
  return row === undefined ? index : rowId(row);
}

function Spacer({ height, span }: { height: number; span: number }): ReactElement | null {
  if (height <= 0) return null;
  return (
    <tr aria-hidden="true" style={{ height }}>
      {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label -- it only has a height */}
      <td colSpan={span} />
    </tr>
  );
}

function mainOf(element: HTMLElement | null): HTMLElement | null {
  return element?.closest('main') ?? null;
}

/** The distance of the rows from the top of the page's content; what is above them may change its height. */
function useOffset(element: HTMLElement | null): number {
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => {
    const main = mainOf(element);
    if (!element || !main) return undefined;
    const measure = (): void => {
      const head = element.querySelector('thead')?.clientHeight ?? 0;
      setOffset(Math.round(element.getBoundingClientRect().top - main.getBoundingClientRect().top + main.scrollTop + head));
    };
    // It is observed first as it was laid out.
    const growth = new ResizeObserver(measure);
    growth.observe(main.firstElementChild ?? main);
    return () => growth.disconnect();
  }, [element]);
  return offset;
}

/** The row that `j` and `k` have chosen, and the keys that act on it. */
function useActiveRow<Row>(props: TableBodyProps<Row>, rows: readonly Row[], scrollTo: (index: number) => void): string | null {
  const { rowId, href, keys = [], selection } = props;
  const [active, setActive] = useState<string | null>(null);
  const at = rows.findIndex((row) => rowId(row) === active);
  const chosen = rows[at];
  const move = (step: number): void => {
    const next = Math.min(rows.length - 1, Math.max(0, at + step));
    const row = rows[next];
    if (row === undefined) return;
    setActive(rowId(row));
    scrollTo(next);
  };
  const open = (): void => {
    const to = chosen === undefined ? null : href?.(chosen);
    if (to) navigate(to);
  };
  const opens =
    href === undefined
      ? []
      : [
          { key: 'o', text: 'Open the row', run: open },
          { key: 'Enter', text: 'Open the row', run: open },
        ];
  const select = selection && {
    key: 'x',
    text: 'Select the row',
    run: () => chosen && selection.change(toggled(selection.ids, rowId(chosen))),
  };
  useKeys([
    { key: 'j', text: 'Next row', run: () => move(1) },
    { key: 'k', text: 'Previous row', run: () => move(-1) },
    ...opens,
    ...(select ? [select] : []),
    ...keys.map(({ key, text, run }) => ({ key, text, run: () => chosen && run(chosen) })),
  ]);
  return chosen === undefined ? null : active;
}

export function openRow(href: string, elsewhere: boolean): void {
  if (elsewhere) window.open(href, '_blank', 'noopener');
  else navigate(href);
}
