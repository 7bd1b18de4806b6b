import type { AgentMessage, AgentTurn } from '../config/index.ts';

/**
 * What a request in OpenAI's protocol has besides the input and the instructions of its task. A model is called with it; every other agent has its
 * messages as history.
 */
export interface ModelRequest {
  /** How it is answered: as a response that is kept and may be continued, or as a completion of a chat. */
  readonly kind: 'response' | 'completion';
  /** Messages before the input. */
  readonly before?: readonly AgentMessage[];
  /** Messages behind the input, which is the last that the user said. */
  readonly after?: readonly AgentMessage[];
  /** Tokens of output at most, of each call of the model. */
  readonly maxOutputTokens?: number;
  /** Functions of the caller, which it is asked to call. */
  readonly functions?: readonly CallerFunction[];
  /** The function that the model has to call first; true for any. */
  readonly mustCall?: string | true;
  /** What its answer has to be, where that is no text. */
  readonly format?: AnswerFormat;
  /** The response that this one follows. */
  readonly previous?: ResponsePlace;
  /** The conversation that it is a turn of. */
  readonly conversation?: string;
  /** So many of the messages before the input were added to the conversation, and not sent with the request. */
  readonly carried?: number;
  /** Instructions, apart from those in messages. */
  readonly instructions?: string;
  /** Whether nobody waits for it at first. */
  readonly isBackground?: true;
  /** Whether it is not to be found afterwards. */
  readonly isHidden?: true;
}

/** JSON, which has to fit a schema. */
export interface AnswerFormat {
  /** Null for any JSON. */
  readonly schema: Readonly<Record<string, unknown>> | null;
  readonly name?: string;
  readonly description?: string;
  /** Whether its provider makes sure of it, as far as it can say the schema. */
  readonly isStrict?: boolean;
}

/** A function that the caller of a request does itself, as a model reads of it. */
export interface CallerFunction {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of what it is called with. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** A call of such a function by a model. `arguments` is JSON. */
export interface CallerCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** A response: one task may give several, from 1, where its caller answers calls of functions. */
export interface ResponsePlace {
  readonly task: string;
  readonly part: number;
}

/** The messages before its input as turns: one begins with what a user says. */
export function turnsOf(request: ModelRequest | null, taskId: string): AgentTurn[] {
  const turns: AgentMessage[][] = [];
  for (const message of request?.before ?? []) {
    const turn = turns.at(-1);
    if (turn === undefined || (message.role === 'user' && turn.at(-1)?.role !== 'user')) turns.push([message]);
    else turn.push(message);
  }
  return turns.map((messages) => ({ taskId, input: textOf(messages, 'user'), output: textOf(messages, 'assistant'), messages }));
}

function textOf(messages: readonly AgentMessage[], role: 'user' | 'assistant'): string {
  const texts = messages.filter((message) => message.role === role && message.text !== '').map(({ text }) => text);
  return texts.join('\n\n');
}
