interface MergeOptions<Row> {
  rowId: (row: Row) => string;
  /** No row is left for a further page, so that a row that is missing was removed. */
  isComplete: boolean;
}

/**
 * The held rows with their newest contents, and rows that follow them; rows that came before them are only counted. A held row that is gone
 * was removed, and leaves. Only at the end of a page that ends with a held row, and only as many as are new, rows may have been pushed off
 * the page instead, and stay.
 */
export function mergeRows<Row>(
  held: readonly Row[],
  rows: readonly Row[],
  { rowId, isComplete }: MergeOptions<Row>,
): { rows: readonly Row[]; newCount: number } {
  const newest = new Map(rows.map((row) => [rowId(row), row]));
  const heldIds = held.map(rowId);
  const known = new Set(heldIds);
  const lastKnown = rows.findLastIndex((row) => known.has(rowId(row)));
  // Where no held row is left, a whole page may be new.
  const isReplaced = lastKnown === -1 && held.length > 0 && !isComplete;
  const following = isReplaced ? [] : rows.slice(lastKnown + 1);
  const newCount = rows.filter((row) => !known.has(rowId(row))).length - following.length;
  const last = rows[lastKnown];
  const lastPlace = last === undefined ? -1 : heldIds.indexOf(rowId(last));
  const behind = heldIds.slice(lastPlace + 1).filter((id) => !newest.has(id));
  const isPushed = !isComplete && following.length === 0;
  const pushedOff = new Set(isPushed ? behind.slice(0, newCount) : []);
  const kept = held.filter((row) => newest.has(rowId(row)) || pushedOff.has(rowId(row)));
  return { rows: [...kept.map((row) => newest.get(rowId(row)) ?? row), ...following], newCount };
}
