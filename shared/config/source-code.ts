import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const SHARED = fileURLToPath(new URL('../', import.meta.url));
/** A file and a line as Node writes them: in front of a syntax error, or in a stack frame. */
const LOCATION = /(?:file:\/\/)?(\/[^\s:()]+\.[cm]?[jt]s):(\d+)/g;

/** A line of a file, counted from 1. */
interface SourceLine {
  readonly file: string;
  readonly line: number;
}

/** The first line of a stack, or of another message of Node's, that is in a user's own file; null when there is none. */
export function findOwnLine(text: string): SourceLine | null {
  for (const [, file = '', line = ''] of text.matchAll(LOCATION)) {
    if (!file.startsWith(SHARED) && !file.includes('/node_modules/')) return { file, line: Number(line) };
  }
  return null;
}

/** Lines shown before and after the one that matters. */
const AROUND = 3;
const MAX_WIDTH = 160;

/** The code around a user's own line in a stack, that line marked; null when the stack or its file shows none. */
export function excerptOf(stack: string): string | null {
  const place = findOwnLine(stack);
  const lines = place === null ? null : readLines(place.file);
  if (place === null || lines === null || place.line > lines.length) return null;
  const first = Math.max(1, place.line - AROUND);
  const last = Math.min(lines.length, place.line + AROUND);
  const numbered = lines.slice(first - 1, last).map((text, index) => {
    const number = first + index;
    return `${number === place.line ? '>' : ' '} ${String(number).padStart(String(last).length)} | ${text.slice(0, MAX_WIDTH)}`.trimEnd();
  });
  return [`${place.file}:${place.line}`, ...numbered].join('\n');
}

/** `<file>:<line>` where a configuration file writes the setting at this path, or what contains it; only the file where neither is found. */
export function placeOf(file: string, path: readonly PropertyKey[]): string {
  const lines = readLines(file) ?? [];
  let found = 0;
  for (const key of path.map(String)) {
    const written = new RegExp(String.raw`(?:^|[\s{,'"\`])${RegExp.escape(key)}['"\`]?\s*[:(,]`);
    const index = lines.findIndex((text, at) => at >= Math.max(0, found - 1) && written.test(text));
    if (index === -1) break;
    found = index + 1;
  }
  return found === 0 ? file : `${file}:${found}`;
}

/** `<file>:<line>` where a file imports this; only the file where the line is not found. */
export function lineWith(file: string, specifier: string): string {
  const index = (readLines(file) ?? []).findIndex((text) => [`'${specifier}'`, `"${specifier}"`].some((quoted) => text.includes(quoted)));
  return index === -1 ? file : `${file}:${index + 1}`;
}

function readLines(file: string): string[] | null {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return null;
  }
}
