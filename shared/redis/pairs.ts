/** A flat reply of Redis (member, score, member, score, ...) as pairs. */
export function pairs(flat: readonly string[]): [first: string, second: string][] {
  const found: [string, string][] = [];
  for (let position = 0; position + 1 < flat.length; position += 2) found.push([flat[position] ?? '', flat[position + 1] ?? '']);
  return found;
}
