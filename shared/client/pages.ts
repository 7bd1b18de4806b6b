import type { HttpCalls, Query } from './http-calls.ts';

interface Page<Item> {
  items: Item[];
  nextCursor: string | null;
}

interface ListRequest {
  path: string;
  /** `limit` bounds a page, not the list. */
  query?: object | undefined;
  signal?: AbortSignal | undefined;
}

/** The items of a list, page by page as they are read: `for await (const item of ...)`. A loop that ends early reads no further page. */
export async function* readPages<Item>(calls: HttpCalls, { path, query = {}, signal }: ListRequest): AsyncGenerator<Item, void> {
  let cursor: string | null = null;
  do {
    const page: Page<Item> = await calls.json({ method: 'GET', path, query: { ...(query as Query), cursor }, signal });
    yield* page.items;
    cursor = page.nextCursor;
  } while (cursor !== null);
}
