import type { EventStream } from '#shared/http/index.ts';
import type { ResponsePlace } from '#shared/tasks/index.ts';
import { callItemId, messageId } from '../ids.ts';
import { followAnswer, type FollowPorts } from '../output/follow-answer.ts';
import type { AnswerCall, RunAnswer } from '../output/run-answer.ts';
import { callItem, messageItem, responseObject, type ResponseStatus, responseStatus, textPart } from './response-object.ts';

const LAST: Readonly<Record<Exclude<ResponseStatus, 'queued' | 'in_progress'>, string>> = {
  completed: 'response.completed',
  incomplete: 'response.incomplete',
  failed: 'response.failed',
  // There is no event of its own for it.
  cancelled: 'response.failed',
};

/**
 * Streams a response from its start on; events up to `after` are left out. The numbers of its events follow from the request and the output alone, so that
 * each reader has the same, whenever it comes.
 */
export async function streamResponse(ports: FollowPorts, first: RunAnswer, after: number, stream: EventStream): Promise<void> {
  const events = new ResponseEvents(first, stream, after);
  await events.begin(first);
  for await (const step of followAnswer(ports, first, stream.signal)) {
    if (step.kind === 'delta') await events.delta(step.text);
    else if (step.kind === 'restart') await events.close('incomplete');
    else await events.end(step.answer);
  }
}

/** ResponseEvents is responsible for the events of one response, in their order. */
class ResponseEvents {
  readonly #answer: ResponsePlace;
  readonly #stream: EventStream;
  readonly #after: number;
  #number = 0;
  /** The message that is open, and how many items were closed before it. */
  #text: string | null = null;
  #closed = 0;

  constructor({ task, part }: RunAnswer, stream: EventStream, after: number) {
    this.#answer = { task: task.body.id, part };
    this.#stream = stream;
    this.#after = after;
  }

  async begin(answer: RunAnswer): Promise<void> {
    // As it stood when it was accepted: a later reader gets the same.
    const status: ResponseStatus = answer.isBackground ? 'queued' : 'in_progress';
    const response = {
      ...responseObject(answer),
      status,
      output: [],
      usage: null,
      error: null,
      incomplete_details: null,
      completed_at: null,
    };
    await this.#send('response.created', { response });
    await this.#send('response.in_progress', { response: { ...response, status: 'in_progress' } });
  }

  async delta(text: string): Promise<void> {
    if (this.#text === null) await this.#open();
    this.#text = `${this.#text ?? ''}${text}`;
    await this.#send('response.output_text.delta', { ...this.#place, delta: text, logprobs: [] });
  }

  /** Closes the message that is open. */
  async close(status: 'completed' | 'incomplete'): Promise<void> {
    if (this.#text === null) return;
    const text = this.#text;
    await this.#send('response.output_text.done', { ...this.#place, text, logprobs: [] });
    await this.#send('response.content_part.done', { ...this.#place, part: textPart(text) });
    await this.#send('response.output_item.done', { output_index: this.#closed, item: messageItem(this.#id, text, status) });
    this.#text = null;
    this.#closed += 1;
  }

  async end(answer: RunAnswer): Promise<void> {
    const status = responseStatus(answer);
    const hasCalls = answer.calls.length > 0;
    // An answer without words is an empty message.
    if ((status === 'completed' || status === 'incomplete') && !hasCalls && this.#text === null) await this.#open();
    await this.close(status === 'completed' ? status : 'incomplete');
    const response = responseObject(answer, Math.max(0, this.#closed - 1));
    for (const call of answer.calls) await this.#sendCall(call);
    if (status === 'queued' || status === 'in_progress') throw new Error('A response that has ended goes on');
    await this.#send(LAST[status], { response });
  }

  /** Its arguments come at once: the run has all of them. */
  async #sendCall(call: AnswerCall): Promise<void> {
    const place = { item_id: callItemId(call.id), output_index: this.#closed };
    await this.#send('response.output_item.added', { output_index: this.#closed, item: callItem(call, 'in_progress') });
    await this.#send('response.function_call_arguments.delta', { ...place, delta: call.arguments });
    await this.#send('response.function_call_arguments.done', { ...place, name: call.name, arguments: call.arguments });
    await this.#send('response.output_item.done', { output_index: this.#closed, item: callItem(call, 'completed') });
    this.#closed += 1;
  }

  async #open(): Promise<void> {
    this.#text = '';
    const item = { ...messageItem(this.#id, '', 'in_progress'), content: [] };
    await this.#send('response.output_item.added', { output_index: this.#closed, item });
    await this.#send('response.content_part.added', { ...this.#place, part: textPart('') });
  }

  get #id(): string {
    return messageId(this.#answer, this.#closed);
  }

  get #place(): { item_id: string; output_index: number; content_index: number } {
    return { item_id: this.#id, output_index: this.#closed, content_index: 0 };
  }

  async #send(type: string, fields: object): Promise<void> {
    const number = this.#number;
    this.#number += 1;
    if (number > this.#after) await this.#stream.send(type, { type, sequence_number: number, ...fields });
  }
}
