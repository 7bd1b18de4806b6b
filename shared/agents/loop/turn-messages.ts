import type { ModelMessage } from 'ai';
import type { AgentMessage, AgentTurn } from '../../config/index.ts';
import { parseJson } from '../../providers/index.ts';

/** A turn of the conversation as messages. An empty answer is left out: some endpoints refuse it. */
export function messagesOfTurn({ input, output, messages }: AgentTurn): ModelMessage[] {
  if (messages) return modelMessages(messages);
  return modelMessages([
    { role: 'user', text: input },
    { role: 'assistant', text: output },
  ]);
}

/** Messages as the SDK takes them: a result without its call is left out, and so is a call that nothing answers. */
export function modelMessages(messages: readonly AgentMessage[]): ModelMessage[] {
  const answered = new Set(messages.flatMap((message) => (message.role === 'tool' ? [message.callId] : [])));
  const names = new Map<string, string>();
  return messages.flatMap((message): ModelMessage[] => {
    if (message.role === 'user') return [{ role: 'user', content: message.text }];
    if (message.role === 'tool') return resultOf(message, names.get(message.callId));
    const calls = (message.calls ?? []).filter(({ id }) => answered.has(id));
    for (const { id, name } of calls) names.set(id, name);
    const text = message.text === '' ? [] : [{ type: 'text', text: message.text } as const];
    const content = [...text, ...calls.map(callPart)];
    return content.length === 0 ? [] : [{ role: 'assistant', content: calls.length === 0 ? message.text : content }];
  });
}

function callPart({ id, name, arguments: given }: { id: string; name: string; arguments: string }): {
  type: 'tool-call';
  toolCallId: string;
  toolName: string;
  input: unknown;
} {
  return { type: 'tool-call', toolCallId: id, toolName: name, input: parseJson(given) ?? {} };
}

function resultOf({ callId, text }: { callId: string; text: string }, name: string | undefined): ModelMessage[] {
  if (name === undefined) return [];
  return [{ role: 'tool', content: [{ type: 'tool-result', toolCallId: callId, toolName: name, output: { type: 'text', value: text } }] }];
}
