import { z } from 'zod';

/** What a tool gave, as far as it is read here. */
const contentSchema = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  mimeType: z.string().optional(),
  uri: z.string().optional(),
  name: z.string().optional(),
  data: z.string().optional(),
  resource: z.looseObject({ uri: z.string().optional(), text: z.string().optional() }).optional(),
});

const resultSchema = z.looseObject({
  content: z.array(contentSchema).optional(),
  structuredContent: z.unknown().optional(),
  toolResult: z.unknown().optional(),
});

type Content = z.infer<typeof contentSchema>;

/** The text of what a tool gave; of pictures, sounds and links a line each, as a model of texts can take no more. */
export function textOfResult(result: unknown): string {
  const read = resultSchema.safeParse(result);
  if (!read.success) return JSON.stringify(result);
  const { content = [], structuredContent, toolResult } = read.data;
  if (content.length > 0) return content.map(lineOf).join('\n');
  return JSON.stringify(structuredContent ?? toolResult ?? null);
}

function lineOf({ type, text, mimeType = '', uri, name, data, resource }: Content): string {
  if (text !== undefined) return text;
  if (resource?.text !== undefined) return resource.text;
  const what = [type, mimeType, name, uri ?? resource?.uri, data && `${data.length} characters of base64`];
  return `[${what.filter((each) => each !== undefined && each !== '').join(' ')}]`;
}
