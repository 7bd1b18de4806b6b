import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from 'vitest';
import { createLog } from '#shared/log/create-log.ts';
import { StdoutWriter } from '#shared/log/stdout-writer.ts';
import { useFolder } from '../../support/use-folder.ts';
import { waitFor } from '../../support/wait-for.ts';

const folder = await useFolder();
const file = join(folder, 'lines');
const opened: number[] = [];
afterEach(() => {
  for (const fd of opened.splice(0)) closeSync(fd);
});

function open(path: string, flags: string): StdoutWriter {
  const fd = openSync(path, flags);
  opened.push(fd);
  return new StdoutWriter(fd);
}

const messages = (): string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { msg: string }).msg);

it('writes all lines in their order', async () => {
  const log = createLog({ level: 'info', service: 'test', destination: open(file, 'w') });
  const said = Array.from({ length: 500 }, (_, count) => `line ${count}`);
  for (const words of said) log.info(words);
  await waitFor(() => messages().length === said.length, { deadlineMs: 5000, what: 'the lines' });
  expect(messages()).toEqual(said);
});

it('has written a line when it returns', () => {
  open(file, 'w').write('{"msg":"written"}\n');
  expect(messages()).toEqual(['written']);
});

/** A process that writes more than a pipe holds, says so on stderr, and ends without waiting. */
const ENDING = `
import { writeSync } from 'node:fs';
import { createLog } from '${import.meta.resolve('#shared/log/create-log.ts')}';
const log = createLog({ level: 'info', service: 'test' });
for (let count = 0; count < 20000; count += 1) log.info('line ' + count);
log.fatal({ event: 'process.failed' }, 'the last line');
writeSync(2, 'ends');
process.exit(1);
`;

it('has written the last lines to a reader that comes back after the process began to end', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', ENDING], { stdio: ['ignore', 'pipe', 'pipe'] });
  await once(child.stderr, 'data');
  const [written] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  const lines = written.trimEnd().split('\n');
  expect(lines).toHaveLength(20_001);
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ event: 'process.failed', msg: 'the last line' });
});

function openPipe(): number {
  const path = join(folder, `pipe-${opened.length}-${Date.now()}`);
  execFileSync('mkfifo', [path]);
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  opened.push(fd);
  return fd;
}

it('ends within its time where nobody reads', () => {
  const writer = new StdoutWriter(openPipe(), 50);
  writer.write(`${'x'.repeat(200_000)}\n`);
  writer.end();
  expect(() => writer.write('after the end\n')).not.toThrow();
});

it('keeps the newest lines within its bound, and says how many of the oldest it dropped', () => {
  const fd = openPipe();
  const writer = new StdoutWriter(fd, 0);
  const line = `${JSON.stringify({ msg: 'x'.repeat(40_000) })}\n`;
  for (let count = 0; count < 400; count += 1) writer.write(line);
  writer.write('{"msg":"the last"}\n');
  const read = readAll(fd, () => writer.end())
    .trimEnd()
    .split('\n')
    .map((each) => JSON.parse(each) as Record<string, unknown>);
  const note = read.find(({ event }) => event === 'log.dropped');
  expect(note?.['lines']).toBe(402 - read.length);
  expect(read.length).toBeLessThan(260);
  expect(read.at(-1)?.['msg']).toBe('the last');
});

/** All that comes out of a pipe until nothing more is written. */
function readAll(fd: number, writeMore: () => void): string {
  const chunks: Buffer[] = [];
  for (;;) {
    const chunk = Buffer.alloc(65_536);
    try {
      chunks.push(chunk.subarray(0, readSync(fd, chunk)));
    } catch {
      return Buffer.concat(chunks).toString();
    }
    writeMore();
  }
}
