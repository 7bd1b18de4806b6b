#!/usr/bin/env node
// Writes what `codex app-server` once wrote, each answer once it was asked, and goes on after each request once that has its answer. What it got is in a file.
import { appendFileSync, readFileSync } from 'node:fs';
import { argv, exit, stdin, stdout } from 'node:process';
import { createInterface } from 'node:readline';

const valueOf = (name) => argv.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
const [transcript, received] = [valueOf('transcript'), valueOf('received')];
const lines = createInterface(stdin)[Symbol.asyncIterator]();

/** Reads until there is a message of this kind with this id. */
async function readUntil(id, isRequest) {
  for (;;) {
    const { done, value } = await lines.next();
    if (done) exit(1);
    appendFileSync(received, `${value}\n`);
    const message = JSON.parse(value);
    if (message.id === id && 'method' in message === isRequest) return;
  }
}

for (const line of readFileSync(transcript, 'utf8').trim().split('\n')) {
  const { id, method } = JSON.parse(line);
  if (id !== undefined && method === undefined) await readUntil(id, true);
  stdout.write(`${line}\n`);
  if (id !== undefined && method !== undefined) await readUntil(id, false);
}
while (!(await lines.next()).done);
exit(0);
