import type { CallToolResult } from '@modelcontextprotocol/server';
import type { MusterError } from '#shared/errors/index.ts';
import { toProblem } from '#shared/http/index.ts';

/** A result of a tool, or what one becomes in the meantime: a handle of its task, or questions. */
export type ToolAnswer = CallToolResult & Record<string, unknown>;

/** What an endpoint answered: as text for models, and as it is. */
export function resultOfAnswer(body: unknown): ToolAnswer {
  return { content: [{ type: 'text', text: JSON.stringify(body) }], ...structured(body) };
}

/** A refusal or a failure, with its code to branch on. */
export function resultOfError(error: MusterError): ToolAnswer {
  return {
    isError: true,
    content: [{ type: 'text', text: `${error.code}: ${error.message}` }],
    structuredContent: { ...toProblem(error) },
  };
}

/** The structured form of a value, which has to be an object. */
export function structured(value: unknown): Pick<CallToolResult, 'structuredContent'> {
  return isObject(value) ? { structuredContent: value } : {};
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
