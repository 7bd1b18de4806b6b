import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { CommandRun } from './start-command.ts';

/** The pipes of a program that runs. */
interface CommandPipes {
  readonly stdin: Writable;
  readonly stdout: Readable;
}

const IDLE_MS = 5000;

/**
 * Writes the prompt to the program's stdin, then each message that arrives, on a line of its own (line breaks in it become spaces). It
 * closes stdin once nothing was written in either direction for `inputIdleMs`, so that a program that reads to the end gets there. Returns
 * at the latest when the signal of the run or `ended` aborts.
 */
export async function feedCommand(
  { task, definition, context, inputArrived }: CommandRun,
  { stdin, stdout }: CommandPipes,
  ended: AbortSignal,
): Promise<void> {
  const idle = watchIdle(stdout, definition.inputIdleMs ?? IDLE_MS, AbortSignal.any([ended, context.signal]));
  stdin.write(task.input.endsWith('\n') ? task.input : `${task.input}\n`);
  while (await Promise.race([inputArrived().then(() => true), idle.over.then(() => false)])) {
    // A program that closed its stdin reads no more, so nothing is taken for it.
    if (stdin.destroyed || !stdin.writable) break;
    for (const { text } of await context.input()) {
      stdin.write(`${text.trim().replaceAll(/\s*[\r\n]\s*/g, ' ')}\n`);
      idle.touch();
    }
  }
  stdin.end();
}

interface IdleWatch {
  /** Something happened. */
  touch(): void;
  /** Resolves once nothing happened for so long, or at once when the signal aborts. */
  readonly over: Promise<void>;
}

function watchIdle(stdout: Readable, idleMs: number, signal: AbortSignal): IdleWatch {
  let lastAt = performance.now();
  const touch = (): void => {
    lastAt = performance.now();
  };
  stdout.on('data', touch);
  const watch = async (): Promise<void> => {
    for (let leftMs = idleMs; leftMs > 0; leftMs = lastAt + idleMs - performance.now()) {
      await delay(leftMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
    }
  };
  return { touch, over: watch() };
}
