import { Button } from '@mantine/core';
import { useDeferredValue, useEffect, useMemo, useState, type ReactElement, type ReactNode } from 'react';
import type { Column, RowKey } from './column.ts';
import { ColumnMenu } from './column-menu.tsx';
import { useCutTitles } from './cut-titles.ts';
import classes from './data-table.module.css';
import { useShownColumns } from './shown-columns.ts';
import { useSteadyRows, type RowList, type SteadyRows } from './steady-rows.ts';
import { openRow, TableBody } from './table-body.tsx';
import { TableHead } from './table-head.tsx';
import type { Selection } from './use-selection.ts';
import { useTableRows } from './use-table-rows.ts';

export interface DataTableProps<Row> {
  /** Under which the browser keeps the chosen columns, and the address the order. */
  name: string;
  /** The table's name for screen readers. */
  label: string;
  rows: readonly Row[];
  rowId: (row: Row) => string;
  /** A constant, or memoized. The first column is the link of its row. */
  columns: readonly Column<Row>[];
  whenEmpty: ReactNode;
  /** The page of a row. */
  href?: (row: Row) => string | null;
  /** Single keys for the row that `j` and `k` have chosen. */
  keys?: readonly RowKey<Row>[];
  selection?: Selection;
  tone?: (row: Row) => 'bad' | 'warn' | null;
  more?: { hasMore: boolean; isLoading: boolean; load: () => void; text?: string };
  /** Whether older rows may be left out of a list without `more`. */
  isPart?: boolean;
  /** Above the table. */
  toolbar?: ReactNode;
  /** The filter of these rows, not of those that are read still; the rows of another filter are shown at once. */
  of?: string;
}

const EMPTY_LIST: RowList<never> = { rows: [], of: '', isComplete: false };

/** A dense table: virtual rows, chosen columns, keys, and rows that stay in place while they are used. */
export function DataTable<Row>(props: DataTableProps<Row>): ReactElement {
  const { name, label, rowId, columns, whenEmpty, more, isPart = false, toolbar, of = '' } = props;
  const isComplete = more === undefined ? !isPart : !more.hasMore;
  const newest = useMemo(() => ({ rows: props.rows, of, isComplete }), [props.rows, of, isComplete]);
  // The page opens without them, and they follow while the browser has time: both at once would be a long frame.
  const list = useDeferredValue(newest, EMPTY_LIST);
  // A state, because the rows need their place, which is there after the first rendering only.
  const [box, setBox] = useState<HTMLElement | null>(null);
  const { visibility, choose } = useShownColumns(name, columns);
  const steady = useSteadyRows({ list, rowId, table: box });
  const table = useTableRows({ name, rows: steady.rows, rowId, columns, visibility });
  const shown = useMemo(() => columns.filter(({ id }) => visibility[id] === true), [columns, visibility]);
  useOpenOnClick(box);
  useCutTitles(box);
  return (
    <div className={classes['frame']}>
      <Toolbar tools={toolbar} {...steady} />
      <div ref={setBox} className={classes['box']}>
        <div className={classes['corner']}>
          <ColumnMenu columns={columns} visibility={visibility} onChoose={choose} />
        </div>
        <table className={classes['table']} aria-label={label} aria-rowcount={list.rows.length + 1}>
          <TableHead table={table} columns={shown} rows={steady.rows} rowId={rowId} selection={props.selection} />
          <TableBody {...props} of={list.of} table={table} columns={shown} box={box} />
        </table>
        {props.rows.length === 0 ? <div className={classes['empty']}>{whenEmpty}</div> : null}
      </div>
      {more?.hasMore === true ? (
        <Button mt="sm" size="xs" variant="default" loading={more.isLoading} onClick={more.load}>
          {more.text ?? 'Show more'}
        </Button>
      ) : null}
    </div>
  );
}

/** The tools of a table, and the button that shows new rows. Without tools it stands over the head, because it must not move the rows. */
function Toolbar({
  tools,
  newCount,
  showNew,
}: { tools: ReactNode } & Pick<SteadyRows<unknown>, 'newCount' | 'showNew'>): ReactElement | null {
  if (tools === undefined && newCount === 0) return null;
  return (
    <div className={classes['toolbar']} data-over={tools === undefined || undefined}>
      {tools === undefined ? null : <div className={classes['tools']}>{tools}</div>}
      {newCount > 0 ? (
        <Button size="compact-xs" variant={tools === undefined ? 'filled' : 'light'} onClick={showNew}>
          {newCount} new
        </Button>
      ) : null}
    </div>
  );
}

const CONTROLS = 'a, button, input, label, summary';

/** A click anywhere on a row opens it, unless it was meant for a control or ends the selection of a text. */
function useOpenOnClick(element: HTMLElement | null): void {
  useEffect(() => {
    if (element === null) return undefined;
    const onClick = (event: MouseEvent): void => {
      const target = event.target instanceof Element ? event.target : null;
      const href = target?.closest('tr')?.getAttribute('data-href');
      if (!href || target?.closest(CONTROLS) || document.getSelection()?.isCollapsed === false) return;
      openRow(href, event.ctrlKey || event.metaKey);
    };
    element.addEventListener('click', onClick);
    return () => element.removeEventListener('click', onClick);
  }, [element]);
}
