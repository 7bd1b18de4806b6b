#!/usr/bin/env node
// Claude Code as far as its sessions go: it keeps one as lines of JSON in the folder of its project, which has the name of the folder that it runs in, and
// goes on with one only from there. It prints the events of print mode. A message with "slow" makes it wait for good after its first call.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { argv, cwd, exit, stderr, stdin, stdout } from 'node:process';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

// Beside a workspace, else in the working folder.
const out = existsSync('out') ? 'out' : join('..', 'out');
const valueOf = (name) => (argv.includes(name) ? argv[argv.indexOf(name) + 1] : undefined);
const data = join(homedir(), '.claude');
const project = join(data, 'projects', cwd().replaceAll(/[^A-Za-z0-9]/g, '-'));
const resumed = valueOf('--resume');
const id = resumed ?? valueOf('--session-id');
const file = join(project, `${id}.jsonl`);

if (resumed !== undefined && !existsSync(file)) {
  stderr.write(`No conversation found with session ID: ${resumed}\n`);
  exit(1);
}
const listProjects = () =>
  existsSync(join(data, 'projects')) ? readdirSync(join(data, 'projects'), { withFileTypes: true, recursive: true }) : [];
const isTaken = listProjects().some(({ name }) => name === `${id}.jsonl`);
if (resumed === undefined && isTaken) {
  stderr.write(`Error: Session ID ${id} is already in use.\n`);
  exit(1);
}

const print = (event) => stdout.write(`${JSON.stringify({ ...event, session_id: id })}\n`);
const record = (line) => appendFileSync(file, `${JSON.stringify(line)}\n`);
const usage = { input_tokens: 100, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 10 };

const asked = await text(stdin);
mkdirSync(join(project, id, 'tool-results'), { recursive: true });
writeFileSync(join(data, '.credentials.json'), '{"secret":"never kept"}');
print({ type: 'system', subtype: 'init', cwd: cwd(), model: 'claude-fake' });
record({ type: 'user', message: { role: 'user', content: asked } });
print({
  type: 'stream_event',
  event: { type: 'message_start', message: { id: 'msg', model: 'claude-fake', usage } },
  parent_tool_use_id: null,
});
print({ type: 'stream_event', event: { type: 'message_delta', usage: { output_tokens: 10 } }, parent_tool_use_id: null });
record({ type: 'assistant', message: { role: 'assistant', content: 'I began.' } });
writeFileSync(join(project, id, 'tool-results', 'first.txt'), 'seen');
/** Asks by the tool that the configuration names whether it may use another one, as print mode does. */
async function askPermission(tool_name, input) {
  const { mcpServers } = JSON.parse(readFileSync(valueOf('--mcp-config'), 'utf8'));
  const [, server, tool] = valueOf('--permission-prompt-tool').split('__');
  const { command, args } = mcpServers[server];
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]();
  const call = async (number, method, params) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: number, method, params })}\n`);
    return JSON.parse((await answers.next()).value).result;
  };
  await call(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'fake', version: '1' } });
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  const { tools } = await call(2, 'tools/list', {});
  if (!tools.some(({ name }) => name === tool)) throw new Error(`${server} has no tool ${tool}`);
  const { content } = await call(3, 'tools/call', { name: tool, arguments: { tool_name, input, tool_use_id: 'toolu_1' } });
  child.kill();
  return JSON.parse(content[0].text);
}

const lines = () =>
  readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));

// It asks for each command once, and does what it has not asked for before it was ended.
const asks = lines().findLast(({ type, message }) => type === 'user' && /^ask .+/.test(message.content));
const begun = lines().findLastIndex(({ message }) => message?.content === asks?.message.content);
const answered =
  asks === undefined
    ? 0
    : lines()
        .slice(begun)
        .filter(({ type }) => type === 'tool_result').length;
const decisions = [];
for (const command of asks === undefined ? [] : asks.message.content.slice(4).split(' then ').slice(answered)) {
  record({ type: 'tool_use', command });
  const decision = await askPermission('Bash', { command, description: 'Does it' });
  record({ type: 'tool_result', command });
  decisions.push(decision);
  if (decision.behavior === 'allow') appendFileSync('ran.txt', `${decision.updatedInput.command}\n`);
}

if (/^slow\b/.test(asked)) {
  writeFileSync('half.txt', asked);
  writeFileSync(join(out, 'half-made.txt'), asked);
  setInterval(() => undefined, 1000);
} else {
  const turns = lines()
    .filter(({ type }) => type === 'user')
    .map(({ message }) => message.content);
  const [verb, name] = asked.split(' ');
  if (verb === 'write') writeFileSync(name, asked);
  const left = readdirSync(out).filter((each) => !each.startsWith('.'));
  const result = JSON.stringify({
    turns,
    files: readdirSync('.').filter((each) => !['in', 'out', '.git'].includes(each)),
    left,
    decisions,
  });
  print({ type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text: result }] }, parent_tool_use_id: null });
  record({ type: 'assistant', message: { role: 'assistant', content: result } });
  const modelUsage = { 'claude-fake': { inputTokens: 100, outputTokens: 10, cacheReadInputTokens: 0, cacheCreationInputTokens: 0 } };
  print({ type: 'result', subtype: 'success', is_error: false, result, total_cost_usd: 0.01, modelUsage });
}
