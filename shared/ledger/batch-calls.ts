/** Runs many items of one group; answers in their order. An error among the answers is that item's alone. */
export type BatchRun<Item, Answer> = (group: string, items: Item[]) => Promise<(Answer | Error)[]>;
/** One call among those that are run together. */
export type BatchedCall<Item, Answer> = (group: string, item: Item) => Promise<Answer>;

interface Call<Item, Answer> {
  item: Item;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/**
 * Gathers calls of the same turn of the event loop that belong together (by `group`, at most `most`) into one run, because
 * one script for fifty tasks costs Redis a fraction of fifty scripts.
 */
export function batchCalls<Item, Answer>(run: BatchRun<Item, Answer>, most: number): BatchedCall<Item, Answer> {
  const waiting = new Map<string, Call<Item, Answer>[]>();

  const flush = (group: string): void => {
    const calls = waiting.get(group) ?? [];
    waiting.delete(group);
    run(
      group,
      calls.map(({ item }) => item),
    ).then(
      (answers) => calls.forEach((call, position) => settleCall(call, answers[position])),
      (error: unknown) => calls.forEach((call) => call.reject(error)),
    );
  };

  return (group, item) =>
    new Promise((resolve, reject) => {
      const calls = waiting.get(group);
      if (!calls) {
        waiting.set(group, [{ item, resolve, reject }]);
        setImmediate(() => {
          if (waiting.has(group)) flush(group);
        });
        return;
      }
      calls.push({ item, resolve, reject });
      if (calls.length >= most) flush(group);
    });
}

function settleCall<Item, Answer>({ resolve, reject }: Call<Item, Answer>, answer: Answer | Error | undefined): void {
  if (answer instanceof Error) reject(answer);
  else resolve(answer as Answer);
}
