import { APICallError, StreamProviderError } from 'ai';
import { z } from 'zod';

/** What is known of how an endpoint answered a call. */
export interface CallAnswer {
  status?: number | undefined;
  /** By names in lower case. */
  headers?: Readonly<Record<string, string>> | undefined;
  error?: { code?: string | undefined; type?: string | undefined; message?: string | undefined } | undefined;
}

const text = z
  .union([z.string(), z.number()])
  .transform((value) => `${value}`)
  .optional()
  .catch(undefined);
const errorSchema = z.object({ error: z.object({ code: text, type: text, message: text }) });

/** The answer of a call that went well. */
export function goodAnswer(headers: Readonly<Record<string, string | undefined>> = {}): CallAnswer {
  return { status: 200, headers: lowerCase(headers) };
}

/** The answer in an error of the SDK; empty when none came. */
export function failedAnswer(error: unknown): CallAnswer {
  if (StreamProviderError.isInstance(error)) {
    const { statusCode, code, type, message } = error;
    return { status: statusCode, error: { code: code === undefined ? undefined : `${code}`, type, message } };
  }
  if (!APICallError.isInstance(error)) return {};
  const { statusCode, responseHeaders = {}, responseBody = '' } = error;
  return { status: statusCode, headers: lowerCase(responseHeaders), error: errorSchema.safeParse(parse(responseBody)).data?.error };
}

function lowerCase(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name.toLowerCase(), value] as const])),
  );
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
