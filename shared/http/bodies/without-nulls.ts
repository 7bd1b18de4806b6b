import type { z } from 'zod';

/**
 * Reads data in which null may stand for an absent member, as in the API's answers: null members that the schema refuses are left out. What
 * is needed stays needed, and elements of lists stay where they are.
 */
export function withoutNulls<T>(schema: z.ZodType<T>, data: unknown): z.ZodSafeParseResult<T> {
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed;
  const refused = new Place();
  for (const { path } of parsed.error.issues) if (isNullMember(data, path)) refused.add(path);
  return refused.inner.size === 0 ? parsed : schema.safeParse(without(data, refused));
}

/** What was refused in a value, by the names that lead there; one without inner places was refused itself. */
class Place {
  readonly inner = new Map<PropertyKey, Place>();

  add(path: readonly PropertyKey[]): void {
    path.reduce<Place>((place, name) => place.#innerAt(name), this);
  }

  #innerAt(name: PropertyKey): Place {
    const known = this.inner.get(name);
    if (known) return known;
    const made = new Place();
    this.inner.set(name, made);
    return made;
  }
}

function isNullMember(data: unknown, path: readonly PropertyKey[]): boolean {
  const owner = path.slice(0, -1).reduce<unknown>((value, name) => (isOwner(value) ? value[name] : undefined), data);
  const name = path.at(-1);
  return name !== undefined && isOwner(owner) && !Array.isArray(owner) && owner[name] === null;
}

/** Copies each object once, however many of its members go. */
function without(data: unknown, { inner }: Place): unknown {
  if (!isOwner(data)) return data;
  if (Array.isArray(data)) {
    return data.map((element: unknown, index) => {
      const place = inner.get(index);
      return place ? without(element, place) : element;
    });
  }
  const kept = Object.entries(data).flatMap(([name, member]) => {
    const place = inner.get(name);
    if (!place) return [[name, member] as const];
    return place.inner.size === 0 ? [] : [[name, without(member, place)] as const];
  });
  return Object.fromEntries(kept);
}

function isOwner(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null;
}
