/** The held rows with their newest contents, and rows that follow them; rows that came before them are only counted. */
export function mergeRows<Row>(
  held: readonly Row[],
  rows: readonly Row[],
  rowId: (row: Row) => string,
): { rows: readonly Row[]; newCount: number } {
  const newest = new Map(rows.map((row) => [rowId(row), row]));
  const heldIds = new Set(held.map(rowId));
  const lastKnown = rows.findLastIndex((row) => heldIds.has(rowId(row)));
  const added = rows.filter((row) => !heldIds.has(rowId(row)));
  const following = rows.slice(lastKnown + 1);
  return { rows: [...held.map((row) => newest.get(rowId(row)) ?? row), ...following], newCount: added.length - following.length };
}
