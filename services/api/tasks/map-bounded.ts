/** Maps in order, at most `most` at once. Rejects with the first error; what has begun goes on by itself then. */
export async function mapBounded<Item, Result>(
  items: readonly Item[],
  most: number,
  map: (item: Item, position: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  const lines = Array.from({ length: Math.min(most, items.length) }, async () => {
    for (const [position, item] of queue) results[position] = await map(item, position);
  });
  await Promise.all(lines);
  return results;
}
