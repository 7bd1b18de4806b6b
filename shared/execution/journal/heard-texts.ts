/** Levels of what is searched; what is deeper is searched as JSON. */
const MAX_LEVELS = 50;

/** HeardTexts is responsible for knowing what strangers told a run while it ran: what its tools gave, and the data of its events. */
export class HeardTexts {
  readonly #texts: string[] = [];

  /** All texts, as they were told. */
  get all(): readonly string[] {
    return this.#texts;
  }

  /** Adds a text, or the texts in a value; of a text that is JSON those in it, too. */
  add(value: unknown): void {
    this.#texts.push(...textsIn(value, 0));
  }

  /** Settles like the work of a tool, and adds what that gives, or fails with. */
  async hear<T>(work: Promise<T>): Promise<T> {
    try {
      const given = await work;
      this.add(given);
      return given;
    } catch (error) {
      if (error instanceof Error) this.add(error.message);
      throw error;
    }
  }
}

function textsIn(value: unknown, level: number): string[] {
  if (typeof value === 'string') return [value, ...(level === 0 ? textsInJson(value) : [])];
  if (typeof value !== 'object' || value === null) return [];
  if (level > MAX_LEVELS) return [JSON.stringify(value)];
  return Object.entries(value).flatMap(([name, each]) => textsIn(each, level + 1).concat(name));
}

function textsInJson(text: string): string[] {
  try {
    return textsIn(JSON.parse(text), 1);
  } catch {
    return [];
  }
}
