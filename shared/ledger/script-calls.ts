import type { Ledger, ScriptName } from './ledger.ts';
import { parseFullState, parseState } from './codec/state.ts';
import { parseBody } from './codec/body.ts';

/**
 * Runs a script that may let other tasks of the tenant through. Passes those on to `onGranted` and returns the rest of the reply.
 */
export async function runGranting(
  ledger: Ledger,
  tenant: string,
  ...call: [name: ScriptName, keys: readonly string[], args: readonly (string | number)[]]
): Promise<unknown[]> {
  const [granted, ...reply] = (await ledger.run(...call)) as [string[], ...unknown[]];
  for (let position = 0; position < granted.length; position += 3) {
    const [id = '', state = '{}', body = ''] = granted.slice(position, position + 3);
    ledger.onGranted(tenant, id, body === '' ? parseFullState(state) : parseState(state, parseBody(body).first));
  }
  return reply;
}

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

/**
 * Why a script could not carry out one of many. The server's own word stays in front, by which callers know that Redis cannot serve now
 * and that the same call may succeed later.
 */
export function scriptFailure(why: string, what: string): Error {
  return new Error(`${why} (${what})`);
}
