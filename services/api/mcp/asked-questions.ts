import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { hasCode } from '#shared/errors/index.ts';
import { hasScope } from '#shared/tenants/index.ts';
import type { Task, TaskState } from '#shared/tasks/index.ts';
import { answererOf, mayAnswer, questionAwaited, type QuestionRecord, questionsOfTask } from '#shared/waits/index.ts';
import type { McpRequest } from './mcp-request.ts';

/** A form for a person, by the id of the question. */
export type InputRequests = Record<string, { method: 'elicitation/create'; params: ElicitRequestFormParams }>;

/** What the person at the client did with a form. */
const responseSchema = z.object({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.record(z.string(), z.unknown()).optional(),
});
const responsesSchema = z.record(z.string(), z.unknown());

/** Whether the run of a task waits for an answer. */
export function isAsking(state: TaskState): boolean {
  return questionAwaited(state) !== null;
}

/** The open questions of a task. */
export async function openQuestions({ ports }: McpRequest, task: Task): Promise<QuestionRecord[]> {
  if (!isAsking(task.state)) return [];
  return (await questionsOfTask(ports.ledger, task)).filter(({ status }) => status === 'open');
}

/** Those of them that this caller may answer, as forms. */
export async function formsFor({ call, ports, tenant }: McpRequest, questions: readonly QuestionRecord[]): Promise<InputRequests> {
  const { key } = call;
  if (key === null || !hasScope(key.scopes, 'answer')) return {};
  const may = await Promise.all(questions.map((question) => mayAnswer(ports.ledger, tenant, question, answererOf(key))));
  const forms = questions.filter((_question, position) => may[position]).map((question) => [question.id, formOf(question)] as const);
  return Object.fromEntries(forms);
}

type FormSchema = ElicitRequestFormParams['requestedSchema'];

/** A form has fields of simple types only: any other answer is asked for as a text with JSON. */
function formOf({ question, choices, schema }: QuestionRecord): InputRequests[string] {
  return { method: 'elicitation/create', params: { mode: 'form', message: question, requestedSchema: formSchema(choices, schema) } };
}

function formSchema(choices: QuestionRecord['choices'], schema: QuestionRecord['schema']): FormSchema {
  if (choices !== null) return oneField({ type: 'string', enum: choices });
  if (schema === null) return oneField({ type: 'string', minLength: 1 });
  if (isFlat(schema)) return { type: 'object', properties: fieldsOf(schema), ...requiredOf(schema) };
  const field = simpleField(schema);
  return oneField(field ?? { type: 'string', description: `JSON that fits ${JSON.stringify(schema)}` });
}

function oneField(field: FormSchema['properties'][string]): FormSchema {
  return { type: 'object', properties: { answer: field }, required: ['answer'] };
}

type SchemaObject = Readonly<Record<string, unknown>>;

const propertiesSchema = z.record(z.string(), z.record(z.string(), z.unknown()));

/** Whether an answer is an object of which each member is a field of a form. */
function isFlat(schema: SchemaObject): boolean {
  const properties = propertiesSchema.safeParse(schema['properties']).data;
  return schema['type'] === 'object' && properties !== undefined && Object.values(properties).every((each) => simpleField(each) !== null);
}

function fieldsOf(schema: SchemaObject): FormSchema['properties'] {
  const properties = propertiesSchema.parse(schema['properties']);
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, each]) => {
      const field = simpleField(each);
      return field === null ? [] : [[name, field]];
    }),
  );
}

function requiredOf({ required }: SchemaObject): { required?: string[] } {
  const names = z.array(z.string()).safeParse(required).data;
  return names === undefined ? {} : { required: names };
}

const described = { title: z.string().optional(), description: z.string().optional() };
const bounds = { minimum: z.number().optional(), maximum: z.number().optional() };
/** The fields that a form can have; patterns and other checks are left to the answer. */
const fieldSchema = z.union([
  z.object({ type: z.literal('string'), enum: z.array(z.string()).min(1), ...described }),
  z.object({ type: z.literal('string'), minLength: z.number().optional(), maxLength: z.number().optional(), ...described }),
  z.object({ type: z.enum(['number', 'integer']), ...bounds, ...described }),
  z.object({ type: z.literal('boolean'), ...described }),
]);

function simpleField(schema: SchemaObject): FormSchema['properties'][string] | null {
  const field = fieldSchema.safeParse(schema).data;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON has no members that are undefined
  return field === undefined ? null : (JSON.parse(JSON.stringify(field)) as FormSchema['properties'][string]);
}

/** What came of the forms of a task. */
export interface GivenResponses {
  /** Questions that were answered now, or before by somebody. */
  answered: string[];
  /** Questions that the person left: that is no answer, so they stay open. */
  left: string[];
}

/**
 * Answers the questions of a task by what came back for their forms; what names no open question of it is ignored, as the answer may have come
 * twice. Errors: `auth.forbidden`, `question.forbidden`, `question.invalid`.
 */
export async function answerByForms(request: McpRequest, task: Task, responses: unknown): Promise<GivenResponses> {
  const given = responsesSchema.safeParse(responses).data ?? {};
  const outcome: GivenResponses = { answered: [], left: [] };
  for (const question of await openQuestions(request, task)) {
    const response = responseSchema.safeParse(given[question.id]).data;
    if (response === undefined) continue;
    if (response.action === 'accept') await giveAnswer(request, question, response.content ?? {});
    outcome[response.action === 'accept' ? 'answered' : 'left'].push(question.id);
  }
  return outcome;
}

async function giveAnswer(request: McpRequest, question: QuestionRecord, content: Readonly<Record<string, unknown>>): Promise<void> {
  try {
    await request.forward('answerQuestion', { params: { id: question.id }, body: { answer: readContent(question, content) } });
  } catch (error) {
    // Somebody was faster.
    if (!hasCode(error, 'question.answered') && !hasCode(error, 'question.closed')) throw error;
  }
}

function readContent({ choices, schema }: QuestionRecord, content: Readonly<Record<string, unknown>>): unknown {
  if (choices !== null || schema === null) return content['answer'];
  if (isFlat(schema)) return content;
  return simpleField(schema) === null ? readJson(content['answer']) : content['answer'];
}

/** What is no JSON is an answer that does not fit. */
function readJson(text: unknown): unknown {
  try {
    return typeof text === 'string' ? (JSON.parse(text) as unknown) : text;
  } catch {
    return text;
  }
}
