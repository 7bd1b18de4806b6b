import {
  DeliveryRefused,
  type ChatPort,
  type ChatQuestion,
  type OutgoingFile,
  type RefusalKind,
} from '#shared/deliveries/replies/chat-port.ts';
import { LATE, within } from '#shared/time/wait.ts';

export interface FakeMessage {
  id: string;
  thread: string;
  text: string;
  edits: number;
}

type Call = 'post' | 'edit' | 'typing' | 'file';

/** A chat platform that keeps what it was sent, and refuses or hangs when told to. */
export class FakePort implements ChatPort {
  readonly platform: string;
  maxCharacters = 200;
  minEditMs: number | null = 10;
  /** How long a call may take. */
  callTimeoutMs = 60_000;
  #changedAt = Number.NEGATIVE_INFINITY;
  readonly messages: FakeMessage[] = [];
  /** Name and text of each file. */
  readonly files: string[] = [];
  /** Every call, refused ones too. */
  readonly calls: { call: Call; thread: string }[] = [];
  readonly #refusals: { call: Call; refused: DeliveryRefused }[] = [];
  #hanging: { call: Call; until: Promise<void>; reached: () => void } | undefined;

  constructor(platform = 'fake') {
    this.platform = platform;
  }

  get canEdit(): boolean {
    return this.minEditMs !== null;
  }

  quietMs(): number {
    return Math.max(0, this.#changedAt + (this.minEditMs ?? 0) - performance.now());
  }

  /** What a thread shows, oldest first. */
  texts(thread = 't1'): string[] {
    return this.messages.filter((message) => message.thread === thread).map(({ text }) => text);
  }

  count(call: Call, thread = 't1'): number {
    return this.calls.filter((each) => each.call === call && each.thread === thread).length;
  }

  /** Refuses the next calls of this name. */
  refuse(call: Call, kind: RefusalKind, options: { times?: number; retryAfterMs?: number } = {}): void {
    const { times = 1, ...rest } = options;
    for (let n = 0; n < times; n += 1) this.#refusals.push({ call, refused: new DeliveryRefused(kind, `the fake is ${kind}`, rest) });
  }

  /** The next call of this name does what it should and does not answer until `release`. `reached` resolves when it came. */
  hang(call: Call): { reached: Promise<void>; release: () => void } {
    const until = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    this.#hanging = { call, until: until.promise, reached: reached.resolve };
    return { reached: reached.promise, release: until.resolve };
  }

  async startTyping(thread: string): Promise<void> {
    this.#begin('typing', thread);
    await this.#end('typing');
  }

  async post(thread: string, text: string): Promise<{ id: string }> {
    this.#begin('post', thread);
    const id = `m${this.messages.length + 1}`;
    this.messages.push({ id, thread, text, edits: 0 });
    await this.#end('post');
    return { id };
  }

  async ask(thread: string, { text, choices }: ChatQuestion): Promise<{ id: string }> {
    return await this.post(thread, choices.length === 0 ? text : `${text} [${choices.join('|')}]`);
  }

  async close(thread: string, id: string, { question, end }: { question: ChatQuestion; end: string }): Promise<void> {
    await this.edit(thread, id, `${question.text} / ${end}`);
  }

  async edit(thread: string, id: string, text: string): Promise<void> {
    this.#begin('edit', thread);
    const message = this.messages.find((each) => each.id === id && each.thread === thread);
    if (!message) throw new DeliveryRefused('gone', 'no such message');
    message.text = text;
    message.edits += 1;
    await this.#end('edit');
  }

  async sendFile(thread: string, { name, data }: OutgoingFile): Promise<{ id: string }> {
    this.#begin('file', thread);
    this.files.push(`${name}: ${data.toString()}`);
    const id = `f${this.files.length}`;
    await this.#end('file');
    return { id };
  }

  #begin(call: Call, thread: string): void {
    this.calls.push({ call, thread });
    if (call !== 'typing') this.#changedAt = performance.now();
    const at = this.#refusals.findIndex((each) => each.call === call);
    const [found] = at === -1 ? [] : this.#refusals.splice(at, 1);
    if (found) throw found.refused;
  }

  async #end(call: Call): Promise<void> {
    const hanging = this.#hanging;
    if (hanging?.call !== call) return;
    this.#hanging = undefined;
    hanging.reached();
    if ((await within(hanging.until, this.callTimeoutMs)) !== LATE) return;
    throw new DeliveryRefused('unknown', `The platform did not answer within ${this.callTimeoutMs} ms`);
  }
}
