import type { Route } from '#shared/http/index.ts';
import { createHook } from './create-hook.ts';
import { deleteHook } from './delete-hook.ts';
import { getHook } from './get-hook.ts';
import type { HookRouteParts } from './hook-route-parts.ts';
import { listHooks } from './list-hooks.ts';
import { patchHook } from './patch-hook.ts';

/** Every endpoint of `/v1/hooks`. */
export function hookRoutes(parts: HookRouteParts): Route[] {
  return [createHook(parts), listHooks(parts), getHook(parts), patchHook(parts), deleteHook(parts)];
}
