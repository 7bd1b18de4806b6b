import { z } from 'zod';
import {
  argumentsSchema,
  invalidRequest,
  type JsonSchema,
  problemsOf,
  type Route,
  type SentParts,
  withoutNulls,
} from '#shared/http/index.ts';
import type { Operation, Routes } from './mcp-request.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** A tool that is an endpoint of the API under another name. */
export interface FleetTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly operation: Operation;
  readonly inputSchema: JsonSchema;
  readonly annotations: Readonly<Record<string, boolean>>;
  /** Whether its task is waited for. */
  readonly waits: boolean;
  /** The request that a call stands for. Errors: `request.invalid`. */
  read(given: Arguments): SentParts;
}

interface ToolDescription extends Pick<FleetTool, 'name' | 'title' | 'description' | 'operation' | 'annotations'> {
  readonly waits?: boolean;
  readonly shape: (route: Route) => z.ZodRawShape;
  readonly send: (given: Arguments) => SentParts;
}

const READS = { readOnlyHint: true, openWorldHint: false };
const MAKES = { readOnlyHint: false, destructiveHint: false, idempotentHint: false };

const taskId = z.string().meta({ description: "The task's id." });

const TOOLS: readonly ToolDescription[] = [
  {
    name: 'send_task',
    title: 'Send a task',
    description: 'Gives an agent of the fleet a task, and answers at once with its id. Ask get_task for what became of it.',
    operation: 'submitTask',
    annotations: MAKES,
    shape: (route) => ({ ...bodyOf(route), idempotencyKey: partsOf(route, 'headers')['idempotency-key'] ?? z.string().optional() }),
    send: ({ idempotencyKey, ...body }) => ({
      body,
      ...(typeof idempotencyKey === 'string' ? { headers: { 'idempotency-key': idempotencyKey } } : {}),
    }),
  },
  {
    name: 'get_task',
    title: 'Read a task',
    description: 'The record of a task: its status, its output and result once it has ended, its error, its times.',
    operation: 'getTask',
    annotations: READS,
    shape: () => ({ id: taskId }),
    send: atId,
  },
  {
    name: 'why',
    title: 'Why a task does not run',
    description: 'What a task waits for now, what would help, and in about how long it starts.',
    operation: 'explainTask',
    annotations: READS,
    shape: () => ({ id: taskId }),
    send: atId,
  },
  {
    name: 'cancel_task',
    title: 'Stop a task',
    description: 'Stops a task and all that it delegated.',
    operation: 'cancelTask',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    shape: (route) => ({ id: taskId, ...bodyOf(route) }),
    send: atId,
  },
  {
    name: 'list_tasks',
    title: 'List tasks',
    description: 'Tasks by status, agent, session, time, text and more; the newest first.',
    operation: 'listTasks',
    annotations: READS,
    shape: (route) => {
      const { format: _format, ...filters } = partsOf(route, 'query');
      return filters;
    },
    send: (query) => ({ query }),
  },
  {
    name: 'schedule',
    title: 'Make a schedule',
    description: 'Runs an agent again and again, or once later. Say when by one of phrase, cron, every and at.',
    operation: 'createSchedule',
    annotations: MAKES,
    shape: bodyOf,
    send: (body) => ({ body }),
  },
  {
    name: 'ask_session',
    title: 'Ask in a session',
    description: 'Sends a message into a conversation, whose agent knows what was said before, and waits for the answer.',
    operation: 'sendMessage',
    annotations: MAKES,
    waits: true,
    shape: (route) => ({
      session: z.string().meta({ description: 'The conversation: any name; a new one begins one.' }),
      ...bodyOf(route),
    }),
    send: ({ session, ...body }) => ({ params: { id: String(session) }, body }),
  },
  {
    name: 'answer_question',
    title: 'Answer a question',
    description:
      'Answers what the run of a task asks people: one of its choices, what fits its schema, or else a text. Ask a person for it first.',
    operation: 'answerQuestion',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
    shape: (route) => ({ id: z.string().meta({ description: "The question's id." }), ...bodyOf(route) }),
    send: atId,
  },
];

/** All of them; which ones a caller sees is a matter of its scopes. */
export function fleetTools(routes: Routes): ReadonlyMap<string, FleetTool> {
  return new Map(TOOLS.map((tool) => [tool.name, makeTool(tool, routes[tool.operation])]));
}

function makeTool({ shape, send, waits = false, ...rest }: ToolDescription, route: Route): FleetTool {
  const schema = z.strictObject(shape(route));
  const isQuery = route.request?.query !== undefined;
  return {
    ...rest,
    waits,
    inputSchema: argumentsSchema(schema),
    read: (given) => {
      const sent = isQuery ? asQuery(given) : given;
      const parsed = withoutNulls(schema, sent);
      if (!parsed.success) throw invalidRequest(problemsOf(parsed.error, 'arguments'));
      // The route reads what was sent itself.
      return send(sent);
    },
  };
}

function atId({ id, ...body }: Arguments): SentParts {
  return { params: { id: String(id) }, body };
}

function bodyOf(route: Route): z.ZodRawShape {
  return partsOf(route, 'body');
}

function partsOf({ request = {}, operationId }: Route, part: 'body' | 'query' | 'headers'): z.ZodRawShape {
  const schema = request[part];
  const object = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
  if (object instanceof z.ZodObject) return object.shape;
  throw new Error(`The ${part} of ${operationId} has no fields`);
}

/** A query has texts. Absent is what is null. */
function asQuery(given: Arguments): Arguments {
  const named = Object.entries(given).filter(([, value]) => value !== null);
  return Object.fromEntries(named.map(([name, value]) => [name, Array.isArray(value) ? value.map(asText) : asText(value)]));
}

function asText(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
}
