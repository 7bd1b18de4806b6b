/** Whether more objects and lists stand in each other than so many levels: whoever reads or writes JSON goes down level by level. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}
