/** One server-sent event. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
  /** Absent for an event that leaves the reader's place as it is. */
  readonly id: string | undefined;
}

/** EventParser is responsible for events of a text that comes in pieces. It reads what Muster writes: fields, comments, an empty line after each. */
export class EventParser {
  #rest = '';
  #fields = new Map<string, string>();

  /** The events that end in this piece. */
  read(text: string): ServerEvent[] {
    const lines = `${this.#rest}${text}`.split(/\r?\n/);
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#readLine(line) ?? []);
  }

  #readLine(line: string): ServerEvent | null {
    if (line === '') return this.#endEvent();
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    const before = this.#fields.get(name);
    this.#fields.set(name, name === 'data' && before !== undefined ? `${before}\n${value}` : value);
    return null;
  }

  #endEvent(): ServerEvent | null {
    const fields = this.#fields;
    this.#fields = new Map();
    const data = fields.get('data');
    if (data === undefined) return null;
    return { event: fields.get('event') ?? 'message', data, id: fields.get('id') };
  }
}
