import type { z } from 'zod';

/**
 * Reads data in which null may stand for what is absent, as it does in all that the API answers: members that are null and that the
 * schema refuses for it are left out. What is needed stays needed, and elements of lists stay where they are.
 */
export function withoutNulls<T>(schema: z.ZodType<T>, data: unknown): z.ZodSafeParseResult<T> {
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed;
  const refused = parsed.error.issues.map(({ path }) => path).filter((path) => isNullMember(data, path));
  return refused.length === 0 ? parsed : schema.safeParse(refused.reduce<unknown>(withoutMember, data));
}

function isNullMember(data: unknown, path: readonly PropertyKey[]): boolean {
  const owner = path.slice(0, -1).reduce<unknown>((value, name) => (isOwner(value) ? value[name] : undefined), data);
  const name = path.at(-1);
  return name !== undefined && isOwner(owner) && !Array.isArray(owner) && owner[name] === null;
}

function withoutMember(data: unknown, [name, ...rest]: readonly PropertyKey[]): unknown {
  if (name === undefined || !isOwner(data)) return data;
  if (Array.isArray(data)) return data.map((element: unknown, index) => (index === name ? withoutMember(element, rest) : element));
  const { [name]: member, ...others } = data;
  return rest.length === 0 ? others : { ...others, [name]: withoutMember(member, rest) };
}

function isOwner(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null;
}
