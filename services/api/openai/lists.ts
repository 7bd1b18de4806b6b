import { z } from 'zod';

const MAX_LIMIT = 100;

/** What lists of this protocol take: a page begins behind the item `after`. */
export const listQuerySchema = z.looseObject({
  limit: z.coerce.number('expected a number').int().min(1).max(MAX_LIMIT).default(20),
  order: z.enum(['asc', 'desc']).default('desc'),
  after: z.string().max(200).optional(),
});
export type ListQuery = z.infer<typeof listQuerySchema>;

export interface Page<Item> {
  object: 'list';
  data: Item[];
  first_id: string | null;
  last_id: string | null;
  has_more: boolean;
}

/** A page of items that are all here, oldest first. A page behind an item that is gone is empty. */
export function pageOf<Item extends { readonly id: string }>(items: readonly Item[], { limit, order, after }: ListQuery): Page<Item> {
  const ordered = order === 'asc' ? items : items.toReversed();
  const at = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  const rest = after !== undefined && at === 0 ? [] : ordered.slice(at);
  return listOf(rest.slice(0, limit), rest.length > limit);
}

export function listOf<Item extends { readonly id: string }>(data: Item[], hasMore: boolean): Page<Item> {
  return { object: 'list', data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: hasMore };
}
