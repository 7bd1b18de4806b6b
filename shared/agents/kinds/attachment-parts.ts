import type { FilePart, ModelMessage, TextPart } from 'ai';
import type { AgentAttachment } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';

type UserContent = Extract<ModelMessage, { role: 'user' }>['content'];

/** What endpoints that are compatible with OpenAI's take besides text. */
const AS_FILE = /^(?:image\/.+|audio\/(?:wav|mp3|mpeg)|video\/.+|application\/pdf)$/;
const AS_TEXT = /^(?:text\/.+|application\/(?:json|xml|yaml|x-yaml|javascript|sql|.+\+json|.+\+xml))$/;

/**
 * A person's message with its attachments: pictures, sound and documents as parts of their own, texts within a frame, of all others the name.
 * Errors: INVALID_INPUT for more than `maxBytes` together.
 */
export async function contentOf(text: string, attachments: readonly AgentAttachment[], maxBytes: number): Promise<UserContent> {
  if (attachments.length === 0) return text;
  const bytes = attachments.filter(({ mediaType }) => isReadable(mediaType)).reduce((sum, each) => sum + each.bytes, 0);
  if (bytes > maxBytes)
    throw new TaskFailure('INVALID_INPUT', `The attachments have ${bytes} bytes together; a model is given at most ${maxBytes}`);
  return [{ type: 'text', text }, ...(await Promise.all(attachments.map(partOf)))];
}

function isReadable(mediaType: string): boolean {
  return AS_FILE.test(mediaType) || AS_TEXT.test(mediaType);
}

async function partOf({ name, mediaType, bytes, read }: AgentAttachment): Promise<TextPart | FilePart> {
  if (AS_FILE.test(mediaType)) return { type: 'file', filename: name, mediaType, data: { type: 'data', data: await read() } };
  if (AS_TEXT.test(mediaType)) return { type: 'text', text: `<file name="${name}">\n${(await read()).toString('utf8')}\n</file>` };
  return { type: 'text', text: `[attached file that cannot be shown here: ${name}, ${mediaType}, ${bytes} bytes]` };
}
