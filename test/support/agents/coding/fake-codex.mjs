#!/usr/bin/env node
// Codex as far as its sessions go: it chooses their ids, keeps each as a rollout by date, and counts in all turns of a session together. It prints the events
// of `exec --json`. A message with "slow" makes it wait for good after its first command.
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { argv, exit, stderr, stdin, stdout } from 'node:process';
import { text } from 'node:stream/consumers';

const data = join(homedir(), '.codex');
const day = join(data, 'sessions', '2026', '11', '29');
mkdirSync(day, { recursive: true });
writeFileSync(join(data, 'auth.json'), '{"secret":"never kept"}');
const resumed = argv.includes('resume') ? argv[argv.indexOf('resume') + 1] : undefined;
const id = resumed ?? randomUUID();
const found = readdirSync(day).find((name) => name.endsWith(`-${id}.jsonl`));
if (resumed !== undefined && found === undefined) {
  stderr.write(`Error: thread/resume: thread/resume failed: no rollout found for thread id ${resumed} (code -32600)\n`);
  exit(1);
}
const file = join(day, found ?? `rollout-2026-11-29T10-00-00-${id}.jsonl`);
const print = (event) => stdout.write(`${JSON.stringify(event)}\n`);
const record = (line) => appendFileSync(file, `${JSON.stringify(line)}\n`);
const read = (kind) =>
  (existsSync(file) ? readFileSync(file, 'utf8') : '')
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
    .filter(({ type }) => type === kind);

const asked = await text(stdin);
print({ type: 'thread.started', thread_id: id });
print({ type: 'turn.started' });
record({ type: 'user', content: asked });
record({ type: 'call', tokens: 1000 });
print({ type: 'item.started', item: { id: 'item_0', type: 'command_execution', command: 'ls', status: 'in_progress' } });
print({ type: 'item.completed', item: { id: 'item_0', type: 'command_execution', command: 'ls', exit_code: 0, status: 'completed' } });
if (/^slow\b/.test(asked)) {
  writeFileSync('half.txt', asked);
  setInterval(() => undefined, 1000);
} else {
  const [verb, name] = asked.split(' ');
  if (verb === 'write') writeFileSync(name, asked);
  const files = readdirSync('.').filter((each) => each !== 'in' && each !== 'out');
  const result = JSON.stringify({ turns: read('user').map(({ content }) => content), files });
  print({ type: 'item.completed', item: { id: 'item_1', type: 'agent_message', text: result } });
  const calls = read('call').length;
  const usage = { input_tokens: 1000 * calls, cached_input_tokens: 0, output_tokens: 10 * calls, reasoning_output_tokens: 0 };
  print({ type: 'turn.completed', usage });
}
