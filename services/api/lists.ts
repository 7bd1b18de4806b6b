import { z } from 'zod';
import type { Answer } from '#shared/http/index.ts';
import { unreadableOf, type UnreadableRecord, unreadableSchema } from '#shared/redis/index.ts';

/** The one shape of lists in the API: items, and a cursor that leads to the next page. */

/** `nextCursor` of a list that is read page by page. */
export const nextCursorSchema = z.string().nullable().meta({ description: 'The `cursor` of the next page; null at the end.' });

/** `cursor` of a query: what a page before gave as its `nextCursor`. */
export function cursorSchema(pattern: RegExp): z.ZodOptional<z.ZodString> {
  return z
    .string()
    .regex(pattern, 'expected the nextCursor of the page before')
    .optional()
    .meta({ description: '`nextCursor` of the page before.' });
}

/** `nextCursor` of a list that is never longer than one page. */
export const onePageSchema = z.null().meta({ description: 'Null: this list has one page.' });

type OnePage<Item extends z.ZodType> = z.ZodObject<{ items: z.ZodArray<Item>; nextCursor: typeof onePageSchema }, z.core.$strict>;

/** A list that is never longer than one page. `order`: of its items, for the documentation. */
export function onePageOf<Item extends z.ZodType>(item: Item, order: string): OnePage<Item> {
  return z.strictObject({ items: z.array(item).meta({ description: order }), nextCursor: onePageSchema });
}

type RecordPage<Item extends z.ZodType> = z.ZodObject<OnePage<Item>['shape'] & { unreadable: typeof unreadableSchema }, z.core.$strict>;

/** The same of stored records, some of which may be unreadable. */
export function onePageOfRecords<Item extends z.ZodType>(item: Item, order: string): RecordPage<Item> {
  return z.strictObject({ ...onePageOf(item, order).shape, unreadable: unreadableSchema });
}

interface PageFacts {
  /** The cursor of the next page; null by default. */
  next?: string | null;
  /** Records that could not be read. */
  unreadable?: readonly UnreadableRecord[];
}

/** Answers with a page of a list. */
export function answerList(items: readonly unknown[], { next = null, unreadable = [] }: PageFacts = {}): Answer {
  return { status: 200, body: { items, nextCursor: next, ...unreadableOf(unreadable) } };
}
