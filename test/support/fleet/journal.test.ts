import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { appendToJournal, findOverlaps, readJournal, type JournalEntry } from './journal.ts';
import { skewedClockEnvironment } from './skewed-clock.ts';
import { childEnvironment } from '../test-environment.ts';
import { useFolder } from '../use-folder.ts';

const folder = await useFolder();
const JOURNAL = new URL('journal.ts', import.meta.url).href;
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

function entryOf(event: JournalEntry['event'], session: string, task = 'task'): JournalEntry {
  return { event, task, session, input: 'hello', attempt: 1, pid: process.pid, at: Date.now() };
}

/** Starts a process, five minutes behind, that begins a run of the session, does what `then` says, and stays. */
async function startRunElsewhere(session: string, then = ''): Promise<ChildProcess> {
  const code = `
    import { appendToJournal } from ${JSON.stringify(JOURNAL)};
    const note = (event) => appendToJournal(${JSON.stringify(folder)}, { ...${JSON.stringify(entryOf('start', session))}, event, pid: process.pid, at: Date.now() });
    note('start');
    ${then}
    setInterval(() => undefined, 1000);
    console.log('begun');
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    env: childEnvironment(skewedClockEnvironment(-300_000)),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  await once(child.stdout, 'data');
  return child;
}

function overlapsIn(session: string): string[] {
  return findOverlaps(readJournal(folder).filter((entry) => entry.session === session));
}

describe('the journal of a fleet', () => {
  it('shows a run that began while a process lived in which another run of its session had not ended', async () => {
    const { pid } = await startRunElsewhere('living');
    appendToJournal(folder, entryOf('start', 'living'));
    expect(overlapsIn('living')).toEqual([`hello of living began in process ${process.pid} beside a run in ${pid}`]);
  });

  it('shows no overlap with a run that was cut short by the end of its process, whatever their clocks say', async () => {
    const child = await startRunElsewhere('killed');
    child.kill('SIGKILL');
    await once(child, 'exit');
    appendToJournal(folder, entryOf('start', 'killed'));
    expect(overlapsIn('killed')).toEqual([]);
  });

  it('shows no overlap with a run that was cut short when another process has its pid now', () => {
    const marks = join(folder, 'unfinished', 'given-again');
    mkdirSync(marks, { recursive: true });
    writeFileSync(join(marks, `${process.ppid} task`), 'when another process had this pid');
    appendToJournal(folder, entryOf('start', 'given-again'));
    expect(overlapsIn('given-again')).toEqual([]);
  });

  it.each([
    ['abort', 0],
    ['end', 1],
    ['fail', 1],
  ] as const)('takes a run in a blocked process that goes on to `%s` for %i overlaps', (next, count) => {
    const blocked = { ...entryOf('start', 's'), pid: 1 };
    const beside = { ...entryOf('start', 's'), beside: [1] };
    expect(findOverlaps([blocked, beside, { ...blocked, event: next }], new Set([1]))).toHaveLength(count);
    expect(findOverlaps([blocked, beside, { ...blocked, event: next }])).toHaveLength(1);
  });

  it('shows no overlap with a run that was aborted before, nor with one of another session', async () => {
    await startRunElsewhere('aborted', "note('abort');");
    appendToJournal(folder, entryOf('start', 'aborted'));
    appendToJournal(folder, entryOf('start', 'another'));
    expect([...overlapsIn('aborted'), ...overlapsIn('another')]).toEqual([]);
  });

  it('shows two runs of a session in one process, also of one task', () => {
    appendToJournal(folder, entryOf('start', 'one process', 'first'));
    appendToJournal(folder, entryOf('start', 'one process', 'second'));
    appendToJournal(folder, entryOf('end', 'one process', 'first'));
    appendToJournal(folder, entryOf('start', 'one process', 'second'));
    expect(overlapsIn('one process')).toHaveLength(2);
  });
});
