import { type ResponsePlace, TASK_ID } from '#shared/tasks/index.ts';

/** Of a completion of a chat: its task's, and which of the task's it is where that gives several. */
export function completionId({ task, part }: ResponsePlace): string {
  return part === 1 ? `chatcmpl-${task}` : `chatcmpl-${task}_${part}`;
}

/** Of a response, as `completionId`. */
export function responseId({ task, part }: ResponsePlace): string {
  return part === 1 ? `resp_${task}` : `resp_${task}_${part}`;
}

/** A message in the output of a response: which of its messages, from 0. */
export function messageId({ task, part }: ResponsePlace, item: number): string {
  return `msg_${task}_${part}_${item}`;
}

/** A call of a function of the caller: where its run waits in its journal, and which of the calls there, from 0. */
export interface CallPlace {
  readonly task: string;
  readonly seq: number;
  readonly place: number;
}

export function callId({ task, seq, place }: CallPlace): string {
  return `call_${task}_${seq}_${place}`;
}

/** Of the item in the output of a response that is a call. */
export function callItemId(call: string): string {
  return call.replace(/^call_/, 'fc_');
}

const RESPONSE = /^resp_([0-9A-Z]{26})(?:_([2-9]|[1-9]\d{1,3}))?$/;
const MESSAGE = /^msg_([0-9A-Z]{26})_(\d{1,4})_\d{1,4}$/;
const CALL = /^(?:call|fc)_([0-9A-Z]{26})_(\d{1,6})_(\d{1,4})$/;

/** The response that an id names; null for what cannot be one. */
export function responseOf(id: string): ResponsePlace | null {
  return placeOf(RESPONSE.exec(id));
}

/** The response in whose output the message is that an id names; null for what cannot be one. */
export function responseOfMessage(id: string): ResponsePlace | null {
  return placeOf(MESSAGE.exec(id));
}

/** The call that an id, or that of its item, names; null for what cannot be one. */
export function callOf(id: string): CallPlace | null {
  const [, task = '', seq = '', place = ''] = CALL.exec(id) ?? [];
  return TASK_ID.test(task) ? { task, seq: Number(seq), place: Number(place) } : null;
}

function placeOf(match: RegExpExecArray | null): ResponsePlace | null {
  const [, task = '', part = '1'] = match ?? [];
  return TASK_ID.test(task) ? { task, part: Number(part) } : null;
}
