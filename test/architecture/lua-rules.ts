import { basename } from 'node:path';
import type { SourceFile } from './source-file.ts';

const SCRIPT = /^(?:shared|services)\/(?:[^/]+\/)+scripts\/(?:(?!include\/)[^/]+\/)?[^/]+\.lua$/;
const FRAGMENT = /^(?:shared|services)\/(?:[^/]+\/)+scripts\/include\/(?:[^/]+\/)?[^/]+\.lua$/;
const DOCUMENTED = /^-- (KEYS|ARGV)\[(\d+)\] [\w-]+: \S/gm;
/** `KEYS[8...] per task: ...`: the rest is read in order by `iterate(KEYS, 8)`, or all at once by `unpack(KEYS, 8)`. */
const REPEATED = /^-- (KEYS|ARGV)\[(\d+)\.\.\.\] per \w+: \S/gm;
const ITERATED = /\b(?:iterate|unpack)\((KEYS|ARGV), (\d+)\)/g;
const USED = /\b(KEYS|ARGV)\[(\d+)\]/g;
/** `KEYS[i]`, `#ARGV`, `unpack(KEYS)`: which ones are meant shows only when it runs. */
const COMPUTED = /\b(?:KEYS|ARGV)\b(?!\[\d+\])/;
/** Made from TypeScript when the scripts are loaded. */
const GENERATED = new Set(['transitions', 'body-layout', 'queues']);
const INCLUDE = /^-- include: (\S+)$/gm;

/** Each script documents the inputs it uses, all of them and no others, numbered from 1, and what it returns. */
export function undocumentedScripts(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => SCRIPT.test(path))
    .flatMap(({ path, text }) => problemsOf(text).map((problem) => `${basename(path)} ${problem}`));
}

function problemsOf(text: string): string[] {
  const { header, code } = split(text);
  const documented = [...header.matchAll(DOCUMENTED)].map(([, table = '', index = '']) => `${table}[${index}]`);
  const used = new Set([...code.matchAll(USED)].map(([input]) => input));
  const repeated = namesOf(header, REPEATED);
  const iterated = namesOf(code, ITERATED);
  return [
    ...iterated.filter((input) => !repeated.includes(input)).map((input) => `iterates over ${input}... without a word about it`),
    ...repeated.filter((input) => !iterated.includes(input)).map((input) => `documents ${input}... and does not iterate over it`),
    ...repeated.filter((input) => !follows(input, documented)).map((input) => `does not number ${input}... after the rest`),
    ...[...used].filter((input) => !documented.includes(input)).map((input) => `uses ${input} without a word about it`),
    ...documented.filter((input) => !used.has(input)).map((input) => `documents ${input} and does not use it`),
    ...documented.filter((input, at) => documented.indexOf(input) !== at).map((input) => `documents ${input} twice`),
    ...['KEYS', 'ARGV'].filter((table) => !isNumberedFromOne(documented, table)).map((table) => `does not number its ${table} from 1`),
    ...(COMPUTED.test(code.replaceAll(ITERATED, '')) ? ['computes which key or argument it means'] : []),
    ...(/^-- RETURNS \S/m.test(header) ? [] : ['does not say what it returns']),
  ];
}

function namesOf(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, table = '', index = '']) => `${table}[${index}]`);
}

function follows(input: string, documented: readonly string[]): boolean {
  const [table = '', index = ''] = input.split(/[[\]]/);
  return documented.filter((each) => each.startsWith(table)).length === Number(index) - 1;
}

function isNumberedFromOne(documented: readonly string[], table: string): boolean {
  return documented.filter((input) => input.startsWith(table)).every((input, at) => input === `${table}[${at + 1}]`);
}

/** A fragment sees only the arguments of its functions, or the header of the script that includes it would be wrong. */
export function fragmentsReadingInputs(files: readonly SourceFile[]): string[] {
  return files.filter(({ path, text }) => FRAGMENT.test(path) && /\b(KEYS|ARGV)\b/.test(split(text).code)).map(({ path }) => path);
}

/** Every include names a fragment that is there, and every fragment is included by somebody. */
export function brokenIncludes(files: readonly SourceFile[]): string[] {
  const paths = files.map(({ path }) => path).filter((path) => FRAGMENT.test(path));
  const fragments = new Map(paths.map((path) => [basename(path, '.lua'), path]));
  const included = files
    .filter(({ path }) => SCRIPT.test(path) || FRAGMENT.test(path))
    .flatMap(({ path, text }) => [...text.matchAll(INCLUDE)].map(([, name = '']) => ({ path, name: basename(name, '.lua') })));
  const isIncluded = new Set(included.map(({ name }) => name));
  return [
    ...included
      .filter(({ name }) => !fragments.has(name) && !GENERATED.has(name))
      .map(({ path, name }) => `${path} includes ${name}, which is not there`),
    ...[...fragments].filter(([name]) => !isIncluded.has(name)).map(([, path]) => `${path} is included by no script`),
  ];
}

/** Every script that is no fragment is named in TypeScript of the product. */
export function unusedScripts(files: readonly SourceFile[]): string[] {
  const sources = files.filter(({ path }) => /^(?:shared|services)\/.*\.ts$/.test(path));
  const named = new Set(sources.flatMap(({ text }) => [...text.matchAll(/'([\w-]+)'/g)].map(([, name = '']) => name)));
  return files
    .filter(({ path }) => SCRIPT.test(path) && !named.has(basename(path, '.lua')))
    .map(({ path }) => `${path} is named by no source`);
}

/** Calls functions of fragments from a text that it makes. */
const CALLER = 'shared/redis/run-together.ts';

/** Every function of a fragment is called. */
export function unusedFunctions(files: readonly SourceFile[]): string[] {
  const sources = files.filter(({ path }) => SCRIPT.test(path) || FRAGMENT.test(path) || path === CALLER);
  const words = sources.flatMap(({ text }) => text.replaceAll(/--.*$/gm, '').match(/\w+/g) ?? []);
  const counts = Map.groupBy(words, (word) => word);
  return sources
    .filter(({ path }) => FRAGMENT.test(path))
    .flatMap(({ path, text }) => [...text.matchAll(/\bfunction (\w+)/g)].map(([, name = '']) => ({ path, name })))
    .filter(({ name }) => (counts.get(name)?.length ?? 0) < 2)
    .map(({ path, name }) => `${path} has ${name}, which nothing calls`);
}

/** The comment lines a script starts with, and the rest without comments. */
function split(text: string): { header: string; code: string } {
  const header = /^(?:--.*(?:\n|$)|\s*\n)*/.exec(text)?.[0] ?? '';
  return { header, code: text.slice(header.length).replaceAll(/--.*$/gm, '') };
}
