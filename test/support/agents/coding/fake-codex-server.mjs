#!/usr/bin/env node
// `codex app-server` as far as its approvals go, with the messages that Codex 0.171 writes: threads are rollouts by date, the tokens of a call of its model are
// told of when the command after it has ended, and of a thread that goes on once more what it had used. It is asked to "ask <command> then <command>", "patch <file>",
// "tool <name>", "strange", "flood" or "fail"; "-c fake=old", "v1" or "mute" has it misbehave from the beginning.
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { argv, cwd, exit, stderr, stdin, stdout } from 'node:process';
import { createInterface } from 'node:readline';

const how = argv.find((word) => word.startsWith('fake='))?.slice(5);
if (how === 'old') {
  stdout.write('\u001B[?2004h');
  stderr.write('Error: No such device or address (os error 6)\n');
  exit(1);
}
if (argv.at(-1) !== 'app-server') exit(2);

const day = join(homedir(), '.codex', 'sessions', '2026', '11', '29');
mkdirSync(day, { recursive: true });
writeFileSync(join(homedir(), '.codex', 'auth.json'), '{"secret":"never kept"}');

const write = (message) => stdout.write(`${JSON.stringify(message)}\n`);
const notify = (method, params) => write({ method, params, emittedAtMs: Date.now() });
const asked = new Map();
/** Its requests have ids of its own, from 0. */
const ask = (method, params) =>
  new Promise((resolve) => {
    const id = asked.size;
    asked.set(id, resolve);
    write({ method, id, params: { threadId: thread.id, turnId: turn.id, startedAtMs: Date.now(), ...params } });
  });

let thread;
let turn;
/** What its thread was begun with. */
let said;
const record = (line) => appendFileSync(thread.file, `${JSON.stringify(line)}\n`);
const lines = () =>
  readFileSync(thread.file, 'utf8')
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
const of = (kind) => lines().filter(({ type }) => type === kind);

const breakdown = (calls) => ({
  totalTokens: 110 * calls,
  inputTokens: 100 * calls,
  cachedInputTokens: 20 * calls,
  cacheWriteInputTokens: 0,
  outputTokens: 10 * calls,
  reasoningOutputTokens: 3 * calls,
});
function sendUsage(turnId) {
  const tokenUsage = { total: breakdown(of('call').length), last: breakdown(1), modelContextWindow: 258_400 };
  notify('thread/tokenUsage/updated', { threadId: thread.id, turnId, tokenUsage });
}
function count() {
  record({ type: 'call' });
  sendUsage(turn.id);
  // As with its limits, which change nothing of it.
  sendUsage(turn.id);
}

/** Its file; null for a thread that is not there. */
function findRollout(threadId, id) {
  const found = readdirSync(day).find((name) => name.endsWith(`-${id}.jsonl`));
  if (threadId !== undefined && found === undefined) return null;
  const file = join(day, found ?? `rollout-2026-11-29T10-00-00-${id}.jsonl`);
  if (!existsSync(file)) writeFileSync(file, '');
  return file;
}

function openThread({ threadId, ...given }) {
  const id = threadId ?? randomUUID();
  const file = findRollout(threadId, id);
  if (file === null) return null;
  thread = { id, file };
  const begun = of('begun')[0] ?? { type: 'begun', cwd: cwd() };
  if (of('begun').length === 0) record(begun);
  // Its commands run where it was begun, unless it is told otherwise.
  thread.cwd = given.cwd ?? begun.cwd;
  const { approvalPolicy = 'on-request', sandbox = 'read-only', model = 'gpt-fake' } = given;
  said = { approvalPolicy, sandbox, model };
  return { thread: { id, cliVersion: '0.171.0', source: 'vscode', turns: [] }, ...said, modelProvider: 'fake', cwd: thread.cwd };
}

const item = (method, given) => notify(method, { item: given, threadId: thread.id, turnId: turn.id });

/** Whether a command may run. What it says of it is never the same twice. */
async function mayRun(given) {
  const { result } = await ask('item/commandExecution/requestApproval', {
    kind: 'command',
    itemId: given.id,
    reason: `Needed for ${randomUUID()}`,
    command: given.command,
    cwd: given.cwd,
    commandActions: [{ type: 'unknown', command: given.command }],
    availableDecisions: ['accept', 'cancel'],
  });
  return result?.decision;
}

/** Runs a command once it may; what fails in its sandbox it would run without. */
async function runCommand(command) {
  const id = `call_${asked.size}`;
  const given = { type: 'commandExecution', id, command: `/bin/bash -lc '${command}'`, cwd: thread.cwd, status: 'inProgress' };
  item('item/started', given);
  let decision = await mayRun(given);
  if (decision === 'accept' && command === 'fail') decision = await mayRun(given);
  const isAllowed = decision === 'accept';
  if (isAllowed) appendFileSync(join(thread.cwd, 'ran.txt'), `${command}\n`);
  record({ type: 'ran', command, decision });
  item('item/completed', { ...given, status: isAllowed ? 'completed' : 'declined', aggregatedOutput: null });
  count();
}

async function patch(name) {
  const change = { path: join(thread.cwd, name), kind: { type: 'add' }, diff: 'hello\n' };
  item('item/started', { type: 'fileChange', id: 'patch_1', changes: [change], status: 'inProgress' });
  const { result } = await ask('item/fileChange/requestApproval', { itemId: 'patch_1', reason: null, grantRoot: null });
  if (result?.decision === 'accept') writeFileSync(name, 'hello\n');
  record({ type: 'ran', command: `patch ${name}`, decision: result?.decision });
  item('item/completed', {
    type: 'fileChange',
    id: 'patch_1',
    changes: [change],
    status: result?.decision === 'accept' ? 'completed' : 'declined',
  });
  count();
}

async function useTool(name) {
  const { result } = await ask('mcpServer/elicitation/request', {
    serverName: 'tools',
    mode: 'form',
    _meta: { codex_approval_kind: 'mcp_tool_call', persist: ['session', 'always'], tool_name: name, tool_params: { what: 'disk' } },
    message: `Allow the tools MCP server to run tool "${name}"?`,
    requestedSchema: { type: 'object', properties: {} },
  });
  record({ type: 'ran', command: name, decision: result?.action });
  count();
}

/** Asks what nobody can answer, and what says nothing of what it is for. */
async function askStrangely() {
  stdout.write('this is no message\n{"id":99,"result":{}}\n{"id":{},"method":7}\n');
  for (const [method, params] of [
    [
      'item/tool/requestUserInput',
      { itemId: 'u', questions: [{ id: 'q', header: 'H', question: 'Which?', options: null }], isBlocking: true },
    ],
    ['item/tool/call', { callId: 'c', tool: 'lookup', arguments: {} }],
    ['mcpServer/elicitation/request', { serverName: 'tools', mode: 'form', _meta: null, message: 'Your name?', requestedSchema: {} }],
    ['account/chatgptAuthTokens/refresh', { reason: 'unauthorized' }],
    ['item/fileChange/requestApproval', { itemId: 'nothing', reason: null }],
    ['item/commandExecution/requestApproval', { itemId: 'nothing', command: null }],
    ['item/commandExecution/requestApproval', { itemId: 'long', command: 'x'.repeat(2 ** 20) }],
    ['toString', {}],
  ]) {
    const { error } = await ask(method, params);
    record({ type: 'ran', command: method, decision: error?.code });
  }
  count();
}

/** Asks for more at a time than anybody reads. */
async function flood() {
  stdout.write(`${'x'.repeat(17 * 1024 * 1024)}\n`);
  const tooLong = await ask('item/commandExecution/requestApproval', { itemId: 'long', command: 'x'.repeat(17 * 1024 * 1024) });
  record({ type: 'ran', command: 'too long', decision: tooLong.error?.code });
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_each, number) =>
      ask('item/commandExecution/requestApproval', { itemId: `f${number}`, command: `command ${number}`, cwd: cwd() }),
    ),
  );
  record({ type: 'ran', command: 'flood', decision: answers.filter(({ error }) => error !== undefined).length });
  count();
}

function endTurn(status, error = null) {
  notify('turn/completed', { threadId: thread.id, turn: { id: turn.id, items: [], status, error } });
}

const ORDERS = { patch, tool: useTool, strange: askStrangely, flood };

/** Does what it has not done yet of the last message that was an order. */
async function follow(text) {
  const [, order = ''] = /(?:^|\n)((?:ask|patch|tool|strange|flood) ?.*)$/.exec(text) ?? [];
  const [verb, ...words] = order.split(' ');
  const rest = words.join(' ');
  const begun = lines().findIndex(({ content }) => content?.endsWith(order));
  const done = lines()
    .slice(begun)
    .filter(({ type }) => type === 'ran').length;
  if (verb === 'ask') for (const command of rest.split(' then ').slice(done)) await runCommand(command);
  else await ORDERS[verb]?.(rest);
}

/** Agents of its own work in threads of theirs. */
function sendOfOthers() {
  const other = { threadId: randomUUID(), turnId: 'other' };
  notify('thread/tokenUsage/updated', { ...other, tokenUsage: { total: breakdown(1), last: breakdown(1) } });
  notify('item/completed', { ...other, item: { type: 'agentMessage', id: 'm0', text: 'not for you' } });
  notify('turn/completed', { threadId: other.threadId, turn: { id: 'other', status: 'completed', error: null } });
}

async function work(given) {
  record({ type: 'user', content: given });
  await follow(given);
  if (given === 'fail') return endTurn('failed', UNAUTHORIZED);
  sendOfOthers();
  const files = readdirSync('.').filter((each) => each !== 'in' && each !== 'out');
  const turns = of('user').map(({ content }) => content);
  const decisions = lines().flatMap(({ type, decision = null }) => (type === 'ran' ? [decision] : []));
  const text = JSON.stringify({ turns, files, decisions, words: argv.slice(2), said });
  item('item/completed', { type: 'agentMessage', id: 'm1', text, phase: null });
  count();
  return endTurn('completed');
}

const UNAUTHORIZED = {
  message: 'unexpected status 401 Unauthorized: no',
  codexErrorInfo: { httpConnectionFailed: { httpStatusCode: 401 } },
};

const METHODS = {
  initialize: () => (how === 'mute' ? undefined : { userAgent: 'muster/0.171.0', codexHome: join(homedir(), '.codex') }),
  'thread/start': (params) => (how === 'v1' ? null : openThread(params)),
  'thread/resume': openThread,
  'turn/start': ({ input }) => {
    turn = { id: randomUUID() };
    setImmediate(() => void work(input[0].text));
    return { turn: { id: turn.id, items: [], status: 'inProgress', error: null } };
  },
  'turn/interrupt': () => {
    count();
    endTurn('interrupted');
    return {};
  },
};

function takeAnswer({ id, result, error }) {
  if (!asked.has(id)) return;
  asked.get(id)({ result, error });
  notify('serverRequest/resolved', { threadId: thread.id, requestId: id });
}

function answer({ id, method, params }) {
  const result = METHODS[method]?.(params);
  const isResume = method === 'thread/resume';
  const message = isResume ? `no rollout found for thread id ${params.threadId}` : `Invalid request: unknown variant \`${method}\``;
  if (result) write({ id, result });
  if (result === null) write({ id, error: { code: -32_600, message } });
  // What turns before have used.
  if (isResume && result && of('call').length > 0) sendUsage('before');
}

function handle(message) {
  if (message.method === undefined) takeAnswer(message);
  else if (message.id !== undefined) answer(message);
}

for await (const line of createInterface(stdin)) handle(JSON.parse(line));
// Whatever it waits for: nobody can answer any more.
exit(0);
