import type { ReactNode } from 'react';

/** A column of a table. Lists of columns are constants, or memoized. */
export interface Column<Row> {
  /** Under which the browser keeps whether it is shown. */
  readonly id: string;
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** In pixels; columns without a width share the rest. */
  readonly width?: number;
  readonly align?: 'end';
  /** Hidden until a person chooses it. */
  readonly isOptional?: boolean;
  /** Its place on a narrow page, which shows no other columns. */
  readonly onNarrow?: 'first' | 'line';
  /** For lists that are complete: what the browser sorts by. */
  readonly sortValue?: (row: Row) => string | number | null;
}

export interface RowKey<Row> {
  readonly key: string;
  readonly text: string;
  readonly run: (row: Row) => void;
}
