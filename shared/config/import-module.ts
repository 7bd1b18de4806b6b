import { spawnSync } from 'node:child_process';
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { findOwnLine } from './source-code.ts';

const SHARED = new URL('../', import.meta.url);
const DEFINE_CONFIG = new URL('define-config.ts', import.meta.url).href;
/** Between asking Node to check a file and giving up on the line. */
const CHECK_MS = 5000;

/**
 * Imports a module that a user wrote, wherever it is: `muster/config` and `#shared/...` are found there too, although Node looks
 * for both only inside of this repository.
 */
export async function importModule(file: string): Promise<Readonly<Record<string, unknown>>> {
  const hooks = registerHooks({
    resolve: (specifier, context, next) => {
      if (specifier === 'muster/config') return next(DEFINE_CONFIG, context);
      if (!specifier.startsWith('#shared/')) return next(specifier, context);
      try {
        return next(specifier, context);
      } catch {
        return next(new URL(specifier.slice('#shared/'.length), SHARED).href, context);
      }
    },
  });
  try {
    const module: Readonly<Record<string, unknown>> = await import(pathToFileURL(file).href);
    return module;
  } finally {
    hooks.deregister();
  }
}

/** Where a module could not be loaded and why, as `<file>:<line>: <reason>`; the line is left out where Node does not know it. */
export function describeImportFailure(file: string, cause: unknown): string {
  if (!(cause instanceof Error)) return `${file}: ${String(cause)}`;
  const place = findOwnLine(cause.stack ?? '') ?? (cause instanceof SyntaxError ? findOwnLine(check(file)) : null);
  return `${place === null ? file : `${place.file}:${place.line}`}: cannot be loaded: ${cause.message}`;
}

/** What `node --check` says; an error of JavaScript's own parser carries no line when it is caught. */
function check(file: string): string {
  return spawnSync(process.execPath, ['--check', file], { encoding: 'utf8', timeout: CHECK_MS }).stderr ?? '';
}
