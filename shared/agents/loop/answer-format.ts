import { wrapLanguageModel } from 'ai';
import { z } from 'zod';
import { type FinishReason, isTruncated } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import type { SdkModel } from '../../models/index.ts';
import type { AnswerFormat } from '../../tasks/index.ts';
import { checkValue, sentenceOf } from '../../text/index.ts';

interface FormattedAnswer {
  /** A model that is asked for the format in each of its calls. */
  readonly ask: (model: SdkModel) => SdkModel;
  readonly write: (text: string) => void;
  /** Takes what the loop came to. Errors: INVALID_OUTPUT. */
  readonly check: (ended: { readonly finishReason: FinishReason; readonly text: string }) => void;
}

/** How a run answers in the format of its request, if that has one. `isHeld`: whether its model may say words besides, which are no part of that. */
export function formatAnswer(
  format: AnswerFormat | undefined,
  { write, isHeld }: Pick<FormattedAnswer, 'write'> & { isHeld: boolean },
): FormattedAnswer {
  if (format === undefined) return { ask: (model) => model, write, check: () => undefined };
  return {
    ask: (model) => withFormat(model, format),
    write: isHeld ? () => undefined : write,
    check: ({ finishReason, text }) => {
      if (finishReason === 'tool_calls') return;
      if (isHeld) write(text);
      if (!isTruncated(finishReason)) assertFits(text, format);
    },
  };
}

/** A model that is asked for JSON in each of its calls. */
function withFormat(model: SdkModel, format: AnswerFormat): SdkModel {
  const { schema, name, description, isStrict = false } = format;
  const about = { ...(name !== undefined && { name }), ...(description !== undefined && { description }) };
  const responseFormat = { type: 'json' as const, ...(schema !== null && { schema, ...about }) };
  return wrapLanguageModel({
    model,
    middleware: {
      transformParams: ({ params }) =>
        Promise.resolve({
          ...params,
          responseFormat,
          providerOptions: { ...params.providerOptions, openai: { ...params.providerOptions?.['openai'], strictJsonSchema: isStrict } },
        }),
    },
  });
}

/** Fails an attempt whose answer is not what its caller requested: INVALID_OUTPUT. */
function assertFits(text: string, { schema }: AnswerFormat): void {
  const value = parse(text);
  const checker = schema === null ? null : checkerOf(schema);
  const checked = checker && checkValue(checker, value);
  if (checked?.problems !== undefined)
    throw invalid(`The answer of the model does not fit the schema of the request: ${sentenceOf('answer', checked.problems)}`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw invalid('The answer of the model is no JSON, which the request asked for');
  }
}

function invalid(message: string): TaskFailure {
  return new TaskFailure('INVALID_OUTPUT', message);
}

/** Null for a schema that is not checked here: what the check would cost has to follow from the sizes of schema and answer. */
function checkerOf(schema: Readonly<Record<string, unknown>>): z.ZodType | null {
  if (hasReferences(schema)) return null;
  try {
    return z.fromJSONSchema(checkable(schema));
  } catch {
    return null;
  }
}

/** References in references multiply with each level. */
function hasReferences(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, each]) => (REFERENCES.has(key) && typeof each === 'string') || hasReferences(each));
}

const REFERENCES = new Set(['$ref', '$dynamicRef', '$recursiveRef']);
/** An expression of the caller's may take as long as it likes. */
const EXPRESSIONS = new Set(['pattern', 'patternProperties', 'propertyNames', 'format']);
/** Their names are those of values. */
const BY_NAME = new Set(['properties', '$defs', 'definitions', 'dependentSchemas']);
const VALUES = new Set(['enum', 'const', 'default', 'examples']);

function checkable(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept = Object.entries(schema).filter(([key]) => !EXPRESSIONS.has(key));
  return Object.fromEntries(kept.map(([key, value]) => [key, VALUES.has(key) ? value : checkableIn(value, BY_NAME.has(key))]));
}

function checkableIn(value: unknown, isByName: boolean): unknown {
  if (Array.isArray(value)) return value.map((each: unknown) => checkableIn(each, false));
  if (typeof value !== 'object' || value === null) return value;
  if (!isByName) return checkable({ ...value });
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, checkableIn(each, false)]));
}
