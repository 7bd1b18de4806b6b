import { z } from 'zod';
import { TaskFailure } from '../errors/index.ts';
import { checkValue, isAgentSchema, jsonSchemaOf, sentenceOf } from '../text/index.ts';
import type { Question } from './define-config.ts';

const MAX_CHOICES = 25;
const MAX_CHOICE = 100;
const MAX_QUESTION = 4000;
const MAX_NAMES = 50;

const choiceSchema = z.string().min(1).max(MAX_CHOICE);

/** What a run asks, as the entry of its journal keeps it. */
export const askedSchema = z.object({
  question: z.string().min(1).max(MAX_QUESTION),
  /** Null for a question that is answered otherwise. */
  choices: z
    .array(choiceSchema)
    .min(1)
    .max(MAX_CHOICES)
    .refine((choices) => new Set(choices).size === choices.length, 'expected choices that differ')
    .nullable(),
  /** JSON Schema of the answer; null for a choice, or a text. */
  schema: z.record(z.string(), z.json()).nullable(),
  /** Who may answer; null for everyone who may answer at all. */
  to: z.array(z.string().min(1).max(300)).min(1).max(MAX_NAMES).nullable(),
  /** `others`: not the one who sent the task. */
  by: z.enum(['anyone', 'others']),
});
export type Asked = z.infer<typeof askedSchema>;

/** What an agent asks. Errors: AGENT_ERROR for what is no question. */
export function readAsked({ question, choices, schema, to, by = 'anyone' }: Question): Asked {
  if (choices !== undefined && schema !== undefined) throw noQuestion('expected choices or a schema, not both');
  const read = askedSchema.safeParse({
    question,
    choices: choices ?? null,
    schema: schema === undefined ? null : jsonSchema(schema),
    to: to === undefined ? null : [to].flat(),
    by,
  });
  if (!read.success) throw noQuestion(read.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '));
  return read.data;
}

function jsonSchema(schema: NonNullable<Question['schema']>): unknown {
  const json = isAgentSchema(schema) ? jsonSchemaOf(schema, 'input') : schema;
  if (json === null) throw noQuestion('its schema cannot be said in JSON Schema');
  try {
    answerSchema(json);
  } catch (error) {
    throw noQuestion(`its schema cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  return JSON.parse(JSON.stringify(json)) as unknown;
}

/** Checks answers by JSON Schema. Throws for what it cannot say. */
function answerSchema(schema: Record<string, unknown>): z.ZodType {
  return z.fromJSONSchema(schema);
}

function noQuestion(why: string): TaskFailure {
  return new TaskFailure('AGENT_ERROR', `The question of the agent cannot be asked: ${why}`, { isFinal: true });
}

/** Why an answer does not fit what was asked, in words; null for one that does. */
export function answerProblem({ choices, schema }: Pick<Asked, 'choices' | 'schema'>, answer: unknown): string | null {
  if (choices !== null) return choices.some((choice) => choice === answer) ? null : `answer: expected one of ${choices.join(', ')}`;
  if (schema === null) return typeof answer === 'string' && answer !== '' ? null : 'answer: expected a text';
  const checked = checkValue(answerSchema(schema), answer);
  return checked.problems === undefined ? null : sentenceOf('answer', checked.problems);
}

/** The choice that a text is, or whose number it is; undefined for any other text. */
export function choiceOf({ choices }: Pick<Asked, 'choices'>, text: string): string | undefined {
  const said = text.trim().toLowerCase();
  return choices?.find((choice) => choice.toLowerCase() === said) ?? choices?.find((_, at) => `${at + 1}` === said);
}

/** What a text answers, which may not fit: a choice or, where there is a schema, the value of a text of JSON. */
export function readTextAnswer(asked: Pick<Asked, 'choices' | 'schema'>, text: string): unknown {
  const said = text.trim();
  if (asked.choices !== null) return choiceOf(asked, said) ?? said;
  if (asked.schema === null || answerProblem(asked, said) === null) return said;
  try {
    return JSON.parse(said) as unknown;
  } catch {
    return said;
  }
}

/** An answer as the agent gets it: what the agent's own schema makes of it. */
export function readAnswer({ schema }: Pick<Question, 'schema'>, answer: unknown): unknown {
  if (schema === undefined || !isAgentSchema(schema)) return answer;
  const checked = checkValue(schema, answer);
  return checked.problems === undefined ? checked.value : answer;
}
