import { registerHooks, type ResolveFnOutput } from 'node:module';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { noteMissing, refuseOtherSdk } from './import-failure.ts';

const SHARED = new URL('../', import.meta.url);
/** `.ts` in the repository, `.js` in the package. */
const EXTENSION = extname(import.meta.url);
const DEFINE_CONFIG = new URL(`define-config${EXTENSION}`, import.meta.url).href;
const DEFINES_CONFIG = new Set(['muster/config', 'muster-fleet']);

/**
 * Imports a module that a user wrote, wherever it is. `muster/config` and `muster-fleet` are this installation there, so that its classes are
 * those of the fleet; `#shared/...` is found there too, although Node looks for it only inside of this repository.
 */
export async function importModule(file: string): Promise<Readonly<Record<string, unknown>>> {
  const hooks = registerHooks({
    resolve: (specifier, { parentURL, ...context }, next) => {
      if (DEFINES_CONFIG.has(specifier)) return next(DEFINE_CONFIG, { parentURL, ...context });
      const resolved = resolve(specifier, parentURL, (each) => next(each, { parentURL, ...context }));
      refuseOtherSdk(specifier, parentURL, resolved.url);
      return resolved;
    },
  });
  try {
    const module: Readonly<Record<string, unknown>> = await import(pathToFileURL(file).href);
    return module;
  } finally {
    hooks.deregister();
  }
}

function resolve(specifier: string, parentUrl: string | undefined, next: (specifier: string) => ResolveFnOutput): ResolveFnOutput {
  try {
    return next(specifier);
  } catch (error) {
    if (specifier.startsWith('#shared/')) {
      return next(new URL(specifier.slice('#shared/'.length).replace(/\.ts$/, EXTENSION), SHARED).href);
    }
    noteMissing(error, specifier, parentUrl);
    throw error;
  }
}
