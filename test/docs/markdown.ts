import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');

/** A fenced block of a page, with what the comment in front of it says of it. */
export interface Snippet {
  readonly page: string;
  /** Line of the page at which the block begins, from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** Not run, because it needs what no test has. */
  readonly isSkipped: boolean;
  /** The file that its reader saves it as; null for none. */
  readonly file: string | null;
  /** A program that its reader runs. */
  readonly isProgram: boolean;
  /** What its output has to show. */
  readonly shows: readonly string[];
  /** Its exit code; 0 unless said otherwise. */
  readonly exits: number;
  /** It goes on until it is stopped, after this time in ms. */
  readonly stopsAfterMs: number | null;
}

/** The pages for users and contributors, from the root of the repository. */
export function listPages(): string[] {
  const below = (folder: string): string[] =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`);
  const services = readdirSync(join(ROOT, 'services')).map((name) => `services/${name}/README.md`);
  const decisions = below('.github/decisions');
  return ['README.md', ...below('docs'), ...below('.github'), ...decisions, ...services].filter((page) => isThere(page));
}

function isThere(page: string): boolean {
  try {
    return readPage(page) !== '';
  } catch {
    return false;
  }
}

export function readPage(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

const FENCE = /(?:<!-- snippet: ([^>]*?) -->\s*\n)?^```(\w+)\n([^]*?)^```$/gm;

export function snippetsOf(page: string): Snippet[] {
  const text = readPage(page);
  return [...text.matchAll(FENCE)].map((match) => {
    const [block, said = '', language = '', body = ''] = match;
    const before = text.slice(0, match.index + block.indexOf('```'));
    return {
      page,
      line: before.split('\n').length,
      language,
      text: body,
      isSkipped: said.startsWith('skip'),
      file: /^file (\S+)/.exec(said)?.[1]?.replace(/,$/, '') ?? null,
      isProgram: said.startsWith('program'),
      shows: [...said.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, shown = '']) => shown.replaceAll(String.raw`\"`, '"')),
      exits: Number(/exits (\d+)/.exec(said)?.[1] ?? 0),
      stopsAfterMs: stopsAfter(said),
    };
  });
}

function stopsAfter(said: string): number | null {
  const seconds = /stops after (\d+) s/.exec(said)?.[1];
  return seconds === undefined ? null : Number(seconds) * 1000;
}
