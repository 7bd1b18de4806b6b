import { wrong } from './read-content.ts';
import type { GivenMessage } from './conversation.ts';

/** Refuses a chat as OpenAI does, whose models take a call and what it gave as one. Errors: `request.invalid`. */
export function matchCallsOfChat(messages: readonly GivenMessage[]): void {
  let [open, at] = [new Set<string>(), -1];
  const close = (): void => {
    if (open.size === 0) return;
    const ids = Array.from(open).join(', ');
    const message = "an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'";
    throw wrong(`messages[${at}].role`, `${message}. The following tool_call_ids did not have response messages: ${ids}`);
  };
  let known = new Set<string>();
  for (const [place, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (!known.has(message.callId)) throw wrong(`messages[${place}].role`, WITHOUT_CALL);
      open.delete(message.callId);
      continue;
    }
    close();
    known = new Set(message.role === 'assistant' ? message.calls?.map(({ id }) => id) : []);
    [open, at] = [new Set(known), place];
  }
  close();
}

const WITHOUT_CALL = "messages with role 'tool' must be a response to a preceding message with 'tool_calls'";

/** Refuses an input of a response that has an output without its call, or a call without its output. Errors: `request.invalid`. */
export function matchCallsOfInput(messages: readonly GivenMessage[]): void {
  const called = new Set<string>();
  const answered = new Set<string>();
  for (const message of messages) {
    if (message.role === 'assistant') for (const { id } of message.calls ?? []) called.add(id);
    if (message.role !== 'tool') continue;
    if (!called.has(message.callId)) throw wrong('input', `No tool call found for function call output with call_id ${message.callId}`);
    answered.add(message.callId);
  }
  const missing = Array.from(called).find((id) => !answered.has(id));
  if (missing !== undefined) throw wrong('input', `No tool output found for function call ${missing}`);
}
