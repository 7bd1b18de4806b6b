import type { AgentMessage } from '#shared/config/index.ts';
import type { ModelRequest } from '#shared/tasks/index.ts';
import type { FunctionOutput } from './accept-request.ts';
import type { GivenFile } from './read-content.ts';

/** A message of a request: what a model is told, or one of a conversation, with its files. */
export type GivenMessage = { readonly role: 'system'; readonly text: string } | (AgentMessage & { readonly files?: readonly GivenFile[] });

type Said = Exclude<GivenMessage, { role: 'system' }>;

/** A conversation as a task has it. */
export interface Conversation extends Pick<ModelRequest, 'before' | 'after'> {
  /** What the user said last; empty where nobody said anything. */
  readonly input: string;
  readonly system: string;
  readonly files: readonly GivenFile[];
  /** What functions gave, where it ends with that. */
  readonly outputs: readonly FunctionOutput[];
}

/**
 * The task that a conversation asks for: the last message of its user is the input, what is told to the model its instructions, all else its history. The
 * files of all messages are the task's.
 */
export function composeConversation(messages: readonly GivenMessage[]): Conversation {
  const instructions = messages.filter((message) => message.role === 'system').map(({ text }) => text);
  const said = messages.filter((message): message is Said => message.role !== 'system');
  const at = said.findLastIndex(({ role }) => role === 'user');
  const last = said[at];
  // A program may say all in the one message for the model.
  const input = last === undefined ? (said.length === 0 ? (instructions.pop() ?? '') : '') : textOf(last);
  const before = said.slice(0, at === -1 ? said.length : at).map(historyOf);
  const after = at === -1 ? [] : said.slice(at + 1).map(historyOf);
  const outputs = said.slice(said.findLastIndex(({ role }) => role !== 'tool') + 1);
  return {
    input: input.trim() === '' ? '' : input,
    system: instructions.filter((text) => text.trim() !== '').join('\n\n'),
    files: said.flatMap(({ files = [] }) => files),
    outputs: outputs.flatMap((message) => (message.role === 'tool' ? [{ callId: message.callId, text: message.text }] : [])),
    ...(before.length > 0 && { before }),
    ...(after.length > 0 && { after }),
  };
}

/** A message without a text says what it brings. */
function textOf({ text, files = [] }: Said): string {
  return text.trim() === '' && files.length > 0 ? `[attached: ${files.map(nameOf).join(', ')}]` : text;
}

/** The files come with the input: the message says which it brought. */
function historyOf({ files = [], ...message }: Said): AgentMessage {
  if (files.length === 0) return message;
  const attached = `[attached: ${files.map(nameOf).join(', ')}]`;
  return { ...message, text: message.text === '' ? attached : `${message.text}\n${attached}` };
}

function nameOf(file: GivenFile): string {
  if (file.kind === 'data') return file.name;
  return file.kind === 'url' ? (file.url.split('?')[0]?.slice(-100) ?? 'file') : 'file';
}
