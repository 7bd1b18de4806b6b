import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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

it('has written all that waited once a process that ends has flushed it', async () => {
  const writer = open(file, 'w');
  writer.write('{"msg":"under way"}\n');
  writer.write('{"msg":"waits"}\n');
  writer.flushSync();
  await waitFor(() => messages().length === 2, { deadlineMs: 5000, what: 'both lines' });
  expect(messages().toSorted()).toEqual(['under way', 'waits']);
});
