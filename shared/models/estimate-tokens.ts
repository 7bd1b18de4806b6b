import type { CallOptions } from './language-model.ts';

/** English has more than four bytes to a token; the margin is for code, numbers and other languages. */
const TOKENS_PER_BYTE = 1.2 / 4;
/** Around each message, for its role and its borders. */
const TOKENS_PER_MESSAGE = 8;
/** Tokens of a picture or another file, which its bytes do not tell. */
const TOKENS_PER_FILE = 1500;

/** The tokens of a text of so many bytes, rather too many than too few. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes * TOKENS_PER_BYTE);
}

function estimateText(text: string): number {
  return estimateTokens(Buffer.byteLength(text));
}

/** The input tokens of a call, rather too many than too few: messages, files and tools. */
export function estimateInputTokens({ prompt, tools = [] }: Pick<CallOptions, 'prompt' | 'tools'>): number {
  const messages = prompt.reduce((total, { content }) => total + TOKENS_PER_MESSAGE + estimateContent(content), 0);
  return messages + tools.reduce((total, tool) => total + estimateText(JSON.stringify(tool)), 0);
}

function estimateContent(content: CallOptions['prompt'][number]['content']): number {
  if (typeof content === 'string') return estimateText(content);
  return content.reduce((total, part) => total + estimatePart(part), 0);
}

function estimatePart(part: Exclude<CallOptions['prompt'][number]['content'], string>[number]): number {
  if (part.type === 'text' || part.type === 'reasoning') return estimateText(part.text);
  if (part.type === 'file' || part.type === 'reasoning-file') return TOKENS_PER_FILE;
  return estimateText(JSON.stringify(part));
}
