import type { Question } from '#shared/client/openapi.gen.ts';

type Schema = NonNullable<Question['schema']>;

/** One field of the form that answers a question. */
export interface AnswerField {
  /** Of the answer's property; empty where the answer is the value itself. */
  name: string;
  label: string;
  hint: string | null;
  kind: 'text' | 'number' | 'choice' | 'json';
  /** What a choice is one of, and the value of each. */
  choices: readonly { label: string; value: unknown }[];
  isRequired: boolean;
}

/** More fields than this are written as JSON. */
const MAX_FIELDS = 12;
const YES_NO = [
  { label: 'yes', value: true },
  { label: 'no', value: false },
];

/** The fields for an answer that fits a schema: one for a single value, one for each property of a flat object, and JSON for all else. */
export function fieldsOf(schema: Schema | null): AnswerField[] {
  const answer = { name: '', label: 'Answer', isRequired: true };
  if (schema === null) return [{ ...answer, hint: null, kind: 'text', choices: [] }];
  const single = inputOf(schema);
  if (single !== null) return [{ ...answer, ...single }];
  return propertyFields(schema) ?? [{ ...answer, label: 'Answer, as JSON', hint: JSON.stringify(schema), kind: 'json', choices: [] }];
}

function propertyFields({ type, properties, required }: Schema): AnswerField[] | null {
  if (type !== 'object' || !isObject(properties)) return null;
  const entries = Object.entries(properties);
  if (entries.length === 0 || entries.length > MAX_FIELDS) return null;
  const names = Array.isArray(required) ? required : [];
  const fields = entries.flatMap(([name, property]) => {
    const input = isObject(property) ? inputOf(property) : null;
    return input === null ? [] : [{ name, label: name, isRequired: names.includes(name), ...input }];
  });
  return fields.length === entries.length ? fields : null;
}

/** How a single value is written; null for what is more than one. */
function inputOf({ type, enum: values, description }: Schema): Pick<AnswerField, 'kind' | 'choices' | 'hint'> | null {
  const hint = typeof description === 'string' ? description : null;
  if (Array.isArray(values)) return { kind: 'choice', hint, choices: values.map((value: unknown) => ({ label: labelOf(value), value })) };
  if (type === 'boolean') return { kind: 'choice', hint, choices: YES_NO };
  if (type === 'string') return { kind: 'text', hint, choices: [] };
  return type === 'number' || type === 'integer' ? { kind: 'number', hint, choices: [] } : null;
}

function labelOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What was written in each field, by its name. */
export type WrittenAnswer = Readonly<Record<string, string>>;

/** Whether every field that an answer needs has something. */
export function isComplete(fields: readonly AnswerField[], written: WrittenAnswer): boolean {
  const some = fields.some(({ name }) => textOf(written, name) !== '');
  return some && fields.every(({ name, isRequired }) => !isRequired || textOf(written, name) !== '');
}

/** The answer that the fields say. What is left empty is left out. */
export function answerFrom(fields: readonly AnswerField[], written: WrittenAnswer): unknown {
  const [first] = fields;
  if (first?.name === '') return valueOf(first, textOf(written, ''));
  const filled = fields.filter(({ name }) => textOf(written, name) !== '');
  return Object.fromEntries(filled.map((field) => [field.name, valueOf(field, textOf(written, field.name))]));
}

function textOf(written: WrittenAnswer, name: string): string {
  return written[name]?.trim() ?? '';
}

/** A text that is no such value goes as it is, and the server says what it expects. */
function valueOf({ kind, choices }: AnswerField, text: string): unknown {
  if (kind === 'choice') return choices.find(({ label }) => label === text)?.value ?? text;
  if (kind === 'number') return Number.isFinite(Number(text)) ? Number(text) : text;
  return kind === 'json' ? jsonOf(text) : text;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
