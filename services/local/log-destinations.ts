import { closeSync, existsSync, fstatSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { z } from 'zod';
import { localTime, oneLine } from '../cli/output/terminal.ts';

interface RotatingFile {
  write(line: string): void;
  close(): void;
}

/** A log file of bounded size. A line is written before the call returns, because the last lines before a crash matter most. */
export function openRotatingFile(file: string, rotation: Rotation): RotatingFile {
  rotateFile(file, rotation);
  let fd = openSync(file, 'a', 0o600);
  let bytes = fstatSync(fd).size;
  return {
    write(line) {
      bytes += writeSync(fd, line);
      if (bytes < rotation.maxBytes) return;
      closeSync(fd);
      rotateFile(file, rotation);
      fd = openSync(file, 'a', 0o600);
      bytes = 0;
    },
    close: () => closeSync(fd),
  };
}

export interface Rotation {
  /** A file of this size is rotated. */
  maxBytes: number;
  /** How many old files are kept; `<file>.1` is the newest. */
  keep: number;
}

/** Rotates a log file that is too large. Returns whether it did. */
export function rotateFile(file: string, { maxBytes, keep }: Rotation): boolean {
  if (!existsSync(file) || statSync(file).size < maxBytes) return false;
  rmSync(`${file}.${keep}`, { force: true });
  for (let number = keep - 1; number >= 1; number -= 1) {
    if (existsSync(`${file}.${number}`)) renameSync(`${file}.${number}`, `${file}.${number + 1}`);
  }
  if (keep > 0) renameSync(file, `${file}.1`);
  else rmSync(file);
  return true;
}

/** The fields of a log line that a person at the terminal wants to see. */
const lineSchema = z.looseObject({
  level: z.string().default('info'),
  time: z.string().default(''),
  msg: z.string().default(''),
  event: z.string().optional(),
  task: z.string().optional(),
  taskId: z.string().optional(),
  /** Ids of tasks that have a line in common, separated by commas. */
  tasks: z.string().optional().catch(undefined),
  agent: z.string().optional(),
  code: z.string().optional(),
  reason: z.string().optional(),
  err: z.object({ message: z.string() }).optional(),
});

const COLORS: Readonly<Record<string, string>> = { fatal: '31', error: '31', warn: '33', debug: '2', trace: '2' };

/** For each part of a line; the file has all of it. */
const MAX_CHARACTERS = 500;

/** Events for the file only: requests, of which an open page makes several a second, and steps that the next step implies. */
const FILE_ONLY = new Set([
  'http.request',
  'task.queued',
  'task.scheduled',
  'redis.started',
  'chat.started',
  'scheduler.started',
  'worker.started',
  'hub.started',
]);

interface ConsoleOptions {
  hasColors: boolean;
  /** More events for the file only. */
  fileOnly?: readonly string[];
}

/** Turns JSON log lines into short ones for a terminal: time, level when it is not info, message, task. */
export function consoleLines(
  out: { write(text: string): unknown },
  { hasColors, fileOnly = [] }: ConsoleOptions,
): { write(line: string): void } {
  const hidden = new Set([...FILE_ONLY, ...fileOnly]);
  return {
    write(line) {
      const text = readable(line.trimEnd(), hasColors, hidden);
      if (text !== null) out.write(`${text}\n`);
    },
  };
}

function readable(line: string, hasColors: boolean, hidden: ReadonlySet<string>): string | null {
  const parsed = lineSchema.safeParse(parseJson(line));
  if (!parsed.success) return oneLine(line, MAX_CHARACTERS);
  if (hidden.has(parsed.data.event ?? '') && parsed.data.level === 'info') return null;
  // Agents write into the log too, and what they write must not steer the terminal or look like a line of its own.
  const text = partsOf(parsed.data)
    .map((words) => oneLine(words, MAX_CHARACTERS))
    .filter(Boolean)
    .join('  ');
  const color = hasColors ? COLORS[parsed.data.level] : undefined;
  return color ? `\u001B[${color}m${text}\u001B[0m` : text;
}

function partsOf({ level, time, msg, event = '', agent, ...line }: z.infer<typeof lineSchema>): string[] {
  const tasks = tasksOf(line);
  return [
    clockOf(time),
    level === 'info' ? '' : level.toUpperCase(),
    // The name of some events is their message.
    msg || event,
    reasonOf(line, msg),
    tasks,
    tasks && agent ? `agent ${agent}` : '',
  ];
}

function tasksOf({ task, taskId, tasks }: Pick<z.infer<typeof lineSchema>, 'task' | 'taskId' | 'tasks'>): string {
  const id = task ?? taskId;
  if (id) return `task ${id}`;
  if (!tasks) return '';
  const count = tasks.split(',').length;
  return count === 1 ? `task ${tasks}` : `${count} tasks`;
}

function reasonOf({ code, reason, err }: Pick<z.infer<typeof lineSchema>, 'code' | 'reason' | 'err'>, msg: string): string {
  const why = [code, reason ?? err?.message].filter((part) => part && part !== msg).join(': ');
  return why === '' ? '' : `(${why})`;
}

function clockOf(iso: string): string {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? '' : localTime(date);
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
