import { z } from 'zod';

/** The one shape of lists in the API: items, and a cursor that leads to the next page. */

/** `nextCursor` of a list that is read page by page. */
export const nextCursorSchema = z.string().nullable().meta({ description: 'The `cursor` of the next page; null at the end.' });

/** `nextCursor` of a list that is never longer than one page. */
export const onePageSchema = z.null().meta({ description: 'Null: this list has one page.' });

/** `cursor` of a query: what a page before gave as its `nextCursor`. */
export function cursorSchema(pattern: RegExp): z.ZodOptional<z.ZodString> {
  return z
    .string()
    .regex(pattern, 'expected the nextCursor of the page before')
    .optional()
    .meta({ description: '`nextCursor` of the page before.' });
}
