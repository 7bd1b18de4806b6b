/**
 * A value as those read it who get it as JSON. Throws a TypeError for what is no JSON: a cycle, a BigInt, or a number without an end, of which
 * `JSON.stringify` makes null.
 */
export function jsonValue(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, onlyFinite) ?? 'null') as unknown;
}

function onlyFinite(name: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isFinite(value)) return value;
  throw new TypeError(`The result has ${value} at "${name}", which is no number in JSON`);
}
