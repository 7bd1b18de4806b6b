/** What a caller gets of a call that it shares with others. */
export interface SharedAnswer<Answer> {
  readonly answer: Answer;
  /** Callers that joined before this one. */
  readonly place: number;
}

interface Gathered<Answer> {
  count: number;
  readonly answer: Promise<Answer>;
}

/**
 * SharedCalls is responsible for one call to Redis for all who want the same in one turn of the event loop. The call begins after the last
 * of them joined, so its answer is as new as if each had asked.
 */
export class SharedCalls<Answer> {
  readonly #run: (name: string, count: number) => Promise<Answer>;
  readonly #gathered = new Map<string, Gathered<Answer>>();

  /** `run` is given how many callers share the call. */
  constructor(run: (name: string, count: number) => Promise<Answer>) {
    this.#run = run;
  }

  async join(name: string): Promise<SharedAnswer<Answer>> {
    const gathered = this.#gathered.get(name) ?? this.#open(name);
    const place = gathered.count;
    gathered.count += 1;
    return { answer: await gathered.answer, place };
  }

  #open(name: string): Gathered<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const gathered = { count: 0, answer: promise };
    this.#gathered.set(name, gathered);
    setImmediate(() => {
      this.#gathered.delete(name);
      resolve(this.#run(name, gathered.count));
    });
    return gathered;
  }
}
