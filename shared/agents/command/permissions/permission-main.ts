import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { argv, stdin, stdout } from 'node:process';
import { createInterface } from 'node:readline';
import { callDigest } from './call-digest.ts';

// A server of the Model Context Protocol on stdio with one tool, by which Claude Code asks whether it may use another one. It runs with the rights of the
// program's user, who may not be able to read any other file of Muster: so it is copied beside the attempt's folders, with the one that it imports.
// What people have answered is in a file. What nobody was asked yet goes into another file, one request at a time; then it waits until the answer is there,
// or the worker ends the program, to start it again with the answer.

const [answersPath = '', requestPath = '', folder = ''] = argv.slice(2);

interface Answers {
  /** By digest of the tool and its input. */
  readonly given: Readonly<Record<string, { readonly isAllowed: boolean; readonly message: string }>>;
  /** Tools that may be used whatever their input is. */
  readonly tools: readonly string[];
}

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string; readonly arguments?: { readonly tool_name?: string; readonly input?: unknown } };
}

const TOOL = {
  name: 'approve',
  description: 'Asks people whether a tool may be used.',
  inputSchema: {
    type: 'object',
    properties: { tool_name: { type: 'string' }, input: { type: 'object' }, tool_use_id: { type: 'string' } },
    required: ['tool_name', 'input'],
  },
};

interface Call {
  readonly id: string | number;
  readonly tool: string;
  readonly input: unknown;
}

/** Between two looks whether people have answered, ms. */
const LOOK_MS = 100;

/** Calls that wait for people, in their order: the first is what they are asked. */
const waiting: Call[] = [];
let asked: Call | undefined;

/** The answer of the tool; null while people are asked. */
function decide({ tool, input }: Call): object | null {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the worker wrote it
  const { given, tools } = JSON.parse(readFileSync(answersPath, 'utf8')) as Answers;
  const answer = given[callDigest(tool, input, folder)];
  if (answer?.isAllowed === true || tools.includes(tool)) return { behavior: 'allow', updatedInput: input };
  return answer ? { behavior: 'deny', message: answer.message } : null;
}

/** Answers what may be answered, and asks the next. */
function look(): void {
  for (const call of waiting.splice(0)) {
    const decision = decide(call);
    if (decision === null) waiting.push(call);
    else send({ id: call.id, result: { content: [{ type: 'text', text: JSON.stringify(decision) }] } });
  }
  const [first] = waiting;
  if (first === undefined) return;
  if (first !== asked) ask(first);
  asked = first;
  setTimeout(look, LOOK_MS);
}

/** Whoever reads it finds all of it, or what was there before. */
function ask({ tool, input }: Call): void {
  const draft = `${requestPath}.${process.pid}`;
  writeFileSync(draft, JSON.stringify({ tool, input }), { mode: 0o600 });
  renameSync(draft, requestPath);
}

function send(message: object): void {
  stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

function answerCall(id: string | number, { arguments: given }: NonNullable<Message['params']>): void {
  waiting.push({ id, tool: given?.tool_name ?? '', input: given?.input ?? {} });
  // Else a timer does.
  if (waiting.length === 1) look();
}

function handle({ id, method, params = {} }: Message): void {
  if (id === undefined) return;
  if (method === 'initialize') {
    const { protocolVersion = '2025-11-25' } = params;
    send({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'muster', version: '1' } } });
  } else if (method === 'tools/list') send({ id, result: { tools: [TOOL] } });
  else if (method === 'tools/call') answerCall(id, params);
  else if (method === 'ping') send({ id, result: {} });
  else send({ id, error: { code: -32_601, message: `There is no method ${method ?? ''}` } });
}

for await (const line of createInterface(stdin)) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of the program that started it
  if (line.trim() !== '') handle(JSON.parse(line) as Message);
}
