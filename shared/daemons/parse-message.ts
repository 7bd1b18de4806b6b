import { z } from 'zod';
import { parseExactJson } from '../text/index.ts';

/** Why a message cannot be read; an `error` message answers with the code. */
export type MessageProblem = 'message.not-json' | 'message.unknown-type' | 'message.invalid';

export type Parsed<Message> = { ok: true; message: Message } | { ok: false; code: MessageProblem; message: string };

const MAX_PROBLEM_CHARACTERS = 500;

const envelope = z.looseObject({ type: z.string() });

/** Reads one JSON text frame by the schema of its `type`. Never throws. */
export function parseMessage<Message>(schemas: Readonly<Record<string, z.ZodType>>, frame: string): Parsed<Message> {
  const json = parseJson(frame);
  if (json === undefined) return refused('message.not-json', 'A message is one JSON object in a text frame');
  const head = envelope.safeParse(json);
  if (!head.success) return refused('message.invalid', 'A message is an object with a `type`');
  const { type } = head.data;
  const schema = Object.hasOwn(schemas, type) ? schemas[type] : undefined;
  if (!schema) return refused('message.unknown-type', `There is no message of type "${type.slice(0, 100)}"`);
  const parsed = schema.safeParse(json);
  if (!parsed.success) return refused('message.invalid', `${type}: ${problemOf(parsed.error)}`);
  // The caller's type is the union of what these schemas give.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return { ok: true, message: parsed.data as Message };
}

/** Undefined for a text that is no JSON. */
export function parseJson(frame: string): unknown {
  try {
    return parseExactJson(frame, 'text');
  } catch {
    return undefined;
  }
}

function refused(code: MessageProblem, message: string): { ok: false; code: MessageProblem; message: string } {
  return { ok: false, code, message };
}

function problemOf({ issues }: z.ZodError): string {
  const all = issues.slice(0, 3).map(({ path, message }) => `${path.join('.') || 'message'}: ${message}`);
  return all.join('; ').slice(0, MAX_PROBLEM_CHARACTERS);
}
