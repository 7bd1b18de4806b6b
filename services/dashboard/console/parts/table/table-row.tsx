import { memo, useCallback, useEffect, useRef, type ReactElement } from 'react';
import { PageLink } from '../../routing/navigation.tsx';
import type { Column } from './column.ts';
import classes from './data-table.module.css';
import { toggled, type Selection } from './use-selection.ts';

interface TableRowProps<Row> {
  index: number;
  measure: (element: HTMLTableRowElement | null) => void;
  row: Row;
  id: string;
  columns: readonly Column<Row>[];
  href: string | null;
  tone: 'bad' | 'warn' | null;
  isActive: boolean;
  selection: Selection | undefined;
}

/** Columns of buttons, which name themselves. */
const ACTIONS: ReadonlySet<string> = new Set(['action', 'actions']);

/** A row; its first column is its link. */
function PlainRow<Row>({ index, measure, row, id, columns, href, tone, isActive, selection }: TableRowProps<Row>): ReactElement {
  const element = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (isActive) element.current?.focus({ preventScroll: true });
  }, [isActive]);
  const isPicked = selection?.ids.has(id) ?? false;
  // The same function at each rendering: another one would be called again, and measure the row.
  const setElement = useCallback(
    (next: HTMLTableRowElement | null): void => {
      element.current = next;
      measure(next);
    },
    [measure],
  );
  return (
    <tr
      ref={setElement}
      tabIndex={-1}
      data-index={index}
      data-href={href ?? undefined}
      data-tone={tone ?? undefined}
      data-active={isActive || undefined}
      data-picked={isPicked || undefined}
      aria-rowindex={index + 2}
    >
      {selection === undefined ? null : (
        <td className={classes['pick']}>
          <input
            type="checkbox"
            aria-label={`Select ${id}`}
            checked={isPicked}
            onChange={() => selection.change(toggled(selection.ids, id))}
          />
        </td>
      )}
      {columns.map(({ id: column, title, align, onNarrow, cell }, place) => (
        <td key={column} data-align={align} data-narrow={onNarrow} data-title={align === 'end' && !ACTIONS.has(column) ? title : undefined}>
          {place === 0 && href !== null ? <PageLink href={href}>{cell(row)}</PageLink> : cell(row)}
        </td>
      ))}
    </tr>
  );
}

/** Scrolling and new rows leave the rows that are shown already as they are. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `memo` loses the type parameter
export const TableRow = memo(PlainRow) as typeof PlainRow;
