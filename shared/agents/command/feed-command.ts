import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { presetOf } from './start/command-line.ts';
import type { CommandRun } from './command-run.ts';

/** The pipes of a program that runs. */
interface CommandPipes {
  readonly stdin: Writable;
  readonly stdout: Readable;
}

interface FeedOptions {
  /** Aborts once the program has ended. */
  readonly ended: AbortSignal;
  /** How many messages the program says that it has answered; 0 where it says nothing. */
  readonly answered: () => number;
}

const IDLE_MS = 5000;

/**
 * Writes the prompt to the program's stdin, then each message that arrives, on a line of its own (line breaks in it become spaces). It
 * closes stdin once nothing was written in either direction for `inputIdleMs`, so that a program that reads to the end gets there, or as soon
 * as the program has answered each of them. Returns at the latest when the signal of the run or `ended` aborts.
 */
export async function feedCommand(
  { task, definition, context, inputArrived }: CommandRun,
  { stdin, stdout }: CommandPipes,
  { ended, answered }: FeedOptions,
): Promise<void> {
  const encode = presetOf(definition)?.encodeMessage ?? toLine;
  const idle = watchIdle(stdout, definition.inputIdleMs ?? IDLE_MS, AbortSignal.any([ended, context.signal]));
  let sent = 0;
  const send = (line: string): void => {
    stdin.write(line.endsWith('\n') ? line : `${line}\n`);
    sent += 1;
  };
  stdout.on('data', () => {
    if (answered() >= sent) idle.end();
  });
  send(definition.preset === undefined ? task.input : encode(task.input));
  while (await Promise.race([inputArrived().then(() => true), idle.over.then(() => false)])) {
    // A program that closed its stdin reads no more, so nothing is taken for it.
    if (stdin.destroyed || !stdin.writable) break;
    for (const { text } of await context.input()) {
      send(encode(text));
      idle.touch();
    }
  }
  stdin.end();
}

function toLine(text: string): string {
  return text.trim().replaceAll(/\s*[\r\n]\s*/g, ' ');
}

interface IdleWatch {
  /** Something happened. */
  touch(): void;
  /** Nothing more is expected. */
  end(): void;
  /** Resolves once nothing happened for so long, or at once when it is ended or the signal aborts. */
  readonly over: Promise<void>;
}

function watchIdle(stdout: Readable, idleMs: number, stopped: AbortSignal): IdleWatch {
  const ended = new AbortController();
  const signal = AbortSignal.any([stopped, ended.signal]);
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
  return { touch, end: () => ended.abort(), over: watch() };
}
