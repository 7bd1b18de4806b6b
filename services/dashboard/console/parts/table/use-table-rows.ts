import {
  columnVisibilityFeature,
  createSortedRowModel,
  rowSortingFeature,
  tableFeatures,
  useTable,
  type ColumnDef,
  type ReactTable,
} from '@tanstack/react-table';
import { useMemo } from 'react';
import type { Column } from './column.ts';
import { useTableOrder } from './table-order.ts';

const FEATURES = tableFeatures({ columnVisibilityFeature, rowSortingFeature, sortedRowModel: createSortedRowModel() });

/** The library takes only records with an index, which interfaces are not. */
type Line<Row> = { row: Row };

export type RowTable<Row> = ReactTable<typeof FEATURES, Line<Row>>;

interface TableRowsOptions<Row> {
  name: string;
  rows: readonly Row[];
  rowId: (row: Row) => string;
  columns: readonly Column<Row>[];
  visibility: Record<string, boolean>;
}

/** The shown columns and the rows in their order. */
export function useTableRows<Row>({ name, rows, rowId, columns, visibility }: TableRowsOptions<Row>): RowTable<Row> {
  const { sorting, change } = useTableOrder(name);
  const definitions = useMemo(() => columns.map(toDefinition), [columns]);
  const data = useMemo(() => rows.map((row) => ({ row })), [rows]);
  return useTable({
    features: FEATURES,
    columns: definitions,
    data,
    getRowId: ({ row }) => rowId(row),
    enableMultiSort: false,
    state: { columnVisibility: visibility, sorting },
    onSortingChange: (next) => change(typeof next === 'function' ? next(sorting) : next),
  });
}

function toDefinition<Row>({ id, title, sortValue }: Column<Row>): ColumnDef<typeof FEATURES, Line<Row>> {
  return {
    id,
    header: title,
    accessorFn: ({ row }) => sortValue?.(row) ?? null,
    enableSorting: sortValue !== undefined,
    sortFn: (left, right) => compare(left.getValue<SortValue>(id), right.getValue<SortValue>(id)),
  };
}

type SortValue = string | number | null;

/** Missing values come first, words in the order of the alphabet. */
function compare(left: SortValue, right: SortValue): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  if (left === null || right === null) return Number(left !== null) - Number(right !== null);
  return String(left).localeCompare(String(right), 'en', { numeric: true });
}
