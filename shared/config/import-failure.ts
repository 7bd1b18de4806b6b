import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { findOwnLine, lineWith } from './source-code.ts';

/** Between asking Node to check a file and giving up on the line. */
const CHECK_MS = 5000;
/** A call of `context.model()`, whose models are of the SDK's version that this installation has. */
const CALLS_MODEL = /\bmodel\s*\(/;

/** Why an import of a user's own file failed, and the line that asks for it. */
const reasons = new WeakMap<Error, { place: string; reason: string }>();

/** Where a module could not be loaded and why, as `<file>:<line>: <reason>`; the line is left out where Node does not know it. */
export function describeImportFailure(file: string, cause: unknown): string {
  if (!(cause instanceof Error)) return `${file}: ${String(cause)}`;
  const known = reasons.get(cause);
  if (known !== undefined) return `${known.place}: cannot be loaded: ${known.reason}`;
  if (cause instanceof SyntaxError) return describeSyntaxError(file, cause);
  return `${placeIn(file, findOwnLine(cause.stack ?? ''))}: cannot be loaded: ${cause.message}`;
}

function describeSyntaxError(file: string, { stack = '', message }: SyntaxError): string {
  const found = findOwnLine(stack) ?? findOwnLine(check(file));
  const manifest = commonJsManifest(found?.file ?? file);
  const what = manifest === null ? 'cannot be loaded' : `needs "type": "module" in ${manifest}`;
  return `${placeIn(file, found)}: ${what}: ${message}`;
}

function placeIn(file: string, found: ReturnType<typeof findOwnLine>): string {
  return found === null ? file : `${found.file}:${found.line}`;
}

/** Notes which line of a user's own file asks for a package or a file that is not there. */
export function noteMissing(error: unknown, specifier: string, parentUrl: string | undefined): void {
  const place = ownPlace(specifier, parentUrl);
  if (place === null || !isMissingModule(error)) return;
  const isFile = /^[./]|^file:/.test(specifier);
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  reasons.set(error, { place, reason: isFile ? `there is no ${specifier}` : `there is no package ${name}: run npm install ${name}` });
}

/**
 * Refuses a user's own file that calls models of the fleet by another major version of the AI SDK, which would fail each attempt. One that uses
 * models of its own may have any version.
 */
export function refuseOtherSdk(specifier: string, parentUrl: string | undefined, url: string): void {
  const place = specifier === 'ai' ? ownPlace(specifier, parentUrl) : null;
  if (place === null || parentUrl === undefined || !CALLS_MODEL.test(readFileSync(fileURLToPath(parentUrl), 'utf8'))) return;
  const theirs = versionIn(manifestOf(fileURLToPath(url)));
  const ours = versionIn(createRequire(import.meta.url).resolve('ai/package.json'));
  const [major] = ours.split('.');
  if (theirs.split('.')[0] === major) return;
  const error = new Error(`the AI SDK is ${theirs}, and context.model() gives models of version ${major}: run npm install ai@${major}`);
  reasons.set(error, { place, reason: error.message });
  throw error;
}

/** Whether a package or a file that is imported is not there. */
export function isMissingModule(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
}

function ownPlace(specifier: string, parentUrl: string | undefined): string | null {
  if (parentUrl?.startsWith('file:') !== true || parentUrl.includes('/node_modules/')) return null;
  return lineWith(fileURLToPath(parentUrl), specifier);
}

/** What `node --check` says; an error of JavaScript's own parser carries no line when it is caught. */
function check(file: string): string {
  return spawnSync(process.execPath, ['--check', file], { encoding: 'utf8', timeout: CHECK_MS }).stderr ?? '';
}

const manifestSchema = z.object({ type: z.string().optional(), version: z.string().default('unknown') });

/** The `package.json` that makes CommonJS of a file; null where none does. */
function commonJsManifest(file: string): string | null {
  if (!['.ts', '.js'].includes(extname(file))) return null;
  const manifest = manifestOf(file);
  return manifest !== '' && read(manifest).type === 'commonjs' ? manifest : null;
}

/** The nearest `package.json` above a file; empty where there is none. */
function manifestOf(file: string): string {
  const folder = dirname(file);
  const manifest = join(folder, 'package.json');
  if (existsSync(manifest)) return manifest;
  return folder === file ? '' : manifestOf(folder);
}

function versionIn(manifest: string): string {
  return read(manifest).version;
}

function read(manifest: string): z.infer<typeof manifestSchema> {
  return manifestSchema.parse(JSON.parse(readFileSync(manifest, 'utf8')));
}
