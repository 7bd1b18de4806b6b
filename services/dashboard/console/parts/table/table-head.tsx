import type { ReactElement } from 'react';
import type { Column } from './column.ts';
import classes from './data-table.module.css';
import type { Selection } from './use-selection.ts';
import type { RowTable } from './use-table-rows.ts';

interface TableHeadProps<Row> {
  table: RowTable<Row>;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowId: (row: Row) => string;
  selection: Selection | undefined;
}

/** The menu of columns is in the head of the last one. */
const MENU_PX = 28;

/** The names of the columns; those that can be sorted are buttons. */
export function TableHead<Row>({ table, columns, rows, rowId, selection }: TableHeadProps<Row>): ReactElement {
  return (
    <>
      <colgroup>
        {selection === undefined ? null : <col className={classes['pickColumn']} />}
        {columns.map(({ id, width }, place) => (
          <col key={id} style={width === undefined ? {} : { width: grown(place === columns.length - 1 ? width + MENU_PX : width) }} />
        ))}
      </colgroup>
      <thead>
        <tr>
          {selection === undefined ? null : (
            <th scope="col" className={classes['pick']}>
              <SelectAll rows={rows} rowId={rowId} selection={selection} />
            </th>
          )}
          {columns.map((column) => (
            <HeadCell key={column.id} table={table} column={column} />
          ))}
        </tr>
      </thead>
    </>
  );
}

/** A large table has wider columns; the style sheet says by how much. */
function grown(widthPx: number): string {
  return `calc(${widthPx}px * var(--grow))`;
}

const ARIA_SORT = { asc: 'ascending', desc: 'descending' } as const;
const ARROWS = { asc: ' ↑', desc: ' ↓' } as const;

function HeadCell<Row>({ table, column: { id, title, align, sortValue } }: { table: RowTable<Row>; column: Column<Row> }): ReactElement {
  const direction = table.getColumn(id)?.getIsSorted() || null;
  return (
    <th scope="col" data-align={align} aria-sort={direction === null ? undefined : ARIA_SORT[direction]}>
      {sortValue === undefined ? (
        title
      ) : (
        <button type="button" className={classes['sort']} onClick={() => table.getColumn(id)?.toggleSorting()}>
          {title}
          {direction === null ? '' : ARROWS[direction]}
        </button>
      )}
    </th>
  );
}

function SelectAll<Row>({ rows, rowId, selection }: Pick<TableHeadProps<Row>, 'rows' | 'rowId'> & { selection: Selection }): ReactElement {
  const isAll = rows.length > 0 && rows.every((row) => selection.ids.has(rowId(row)));
  return (
    <input
      type="checkbox"
      aria-label="Select all shown rows"
      checked={isAll}
      onChange={() => selection.change(isAll ? new Set() : new Set(rows.map(rowId)))}
    />
  );
}
