/**
 * The same JSON value with halves of characters replaced in its texts and names: JSON writes them as escapes that servers refuse. Texts are cut
 * in two by whoever shortens them, models included.
 */
export function wellFormed<T>(value: T): T;
export function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map((each: unknown) => wellFormed(each));
  if (typeof value !== 'object' || value === null || !isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name.toWellFormed(), wellFormed<unknown>(each)]));
}

/** Others, such as a date, have a form of their own in JSON. */
function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
